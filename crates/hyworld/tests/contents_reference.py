#!/usr/bin/env python3
"""Selects and counts the contents of chunks, as a second implementation for the tests.

Usage: contents_reference.py select | contents NAMES < CHUNKS

CHUNKS is a list of documents: x, z and length as 32-bit numbers, then the bytes. `select` prints the
queries below with the chunks that each selects. `contents` prints the entities, the items, and the
positions of the blocks in NAMES, which are separated by commas. It shares no code with the Rust
crates: it decodes documents itself, from the description of the formats.
"""

import fnmatch
import json
import math
import struct
import sys


# --- documents --------------------------------------------------------------------------------

def bson(data, at=0):
    """Returns a document as a dictionary; lists become dictionaries too."""
    size = struct.unpack_from("<i", data, at)[0]
    end, at, out = at + size - 1, at + 4, {}
    while at < end:
        kind = data[at]
        stop = data.index(0, at + 1)
        key = data[at + 1:stop].decode()
        at = stop + 1
        if kind in (3, 4):
            out[key] = bson(data, at)
            at += struct.unpack_from("<i", data, at)[0]
        elif kind == 5:
            length = struct.unpack_from("<i", data, at)[0]
            out[key] = bytes(data[at + 5:at + 5 + length])
            at += 5 + length
        elif kind == 2:
            length = struct.unpack_from("<i", data, at)[0]
            out[key] = data[at + 4:at + 3 + length].decode()
            at += 4 + length
        elif kind == 16:
            out[key] = struct.unpack_from("<i", data, at)[0]
            at += 4
        elif kind == 1:
            out[key] = struct.unpack_from("<d", data, at)[0]
            at += 8
        elif kind in (9, 17, 18):
            out[key] = None
            at += 8
        elif kind == 8:
            out[key] = bool(data[at])
            at += 1
        elif kind == 10:
            out[key] = None
        else:
            raise ValueError(f"BSON type {kind}")
    return out


def palette(data, at):
    """Returns type, entries as (internal id, name, count), and the offset after them."""
    kind = data[at]
    at += 1
    if kind == 0:
        return 0, [(0, "Empty", 32768)], at
    count = struct.unpack_from(">h", data, at)[0]
    at += 2
    entries = []
    for _ in range(count):
        if kind == 3:
            number = struct.unpack_from(">H", data, at)[0]
            at += 2
        else:
            number = data[at]
            at += 1
        length = struct.unpack_from(">H", data, at)[0]
        name = data[at + 2:at + 2 + length].decode()
        at += 2 + length
        entries.append((number, name, struct.unpack_from(">H", data, at)[0]))
        at += 2
    return kind, entries, at


def environments(data):
    """Returns the names of the environments of the blocks of a chunk."""
    count = struct.unpack_from(">i", data, 0)[0]
    at, names = 4, {}
    for _ in range(count):
        number, length = struct.unpack_from(">iH", data, at)
        names[number] = data[at + 6:at + 6 + length].decode()
        at += 6 + length
    used = set()
    for _ in range(1024):
        runs = struct.unpack_from(">i", data, at)[0]
        tops = struct.unpack_from(f">{runs}i", data, at + 4)
        ids = struct.unpack_from(f">{runs + 1}i", data, at + 4 + 4 * runs)
        at += 4 + 4 * runs + 4 * (runs + 1)
        bottom = -2**31
        for top, number in zip(list(tops) + [2**31 - 1], ids):
            if bottom <= 319 and top >= 0:
                used.add(names.get(number, "Unknown"))
            bottom = top + 1
    return used


def containers(value):
    """Returns the dictionaries of slots at any depth."""
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        if key == "Items" and isinstance(inner, dict) and "Capacity" in value:
            yield inner
        else:
            yield from containers(inner)


def stacks(value):
    for slots in containers(value):
        for stack in slots.values():
            yield stack["Id"], stack["Quantity"]


class Chunk:
    def __init__(self, x, z, document):
        self.x, self.z, self.raw = x, z, len(document)
        root = bson(document)["Components"]
        self.components = set(root)
        self.blocks, self.fluids, self.changes, self.sections = {}, {}, 0, []
        for number, section in root["ChunkColumn"]["Sections"].items():
            section = section["Components"]
            self.components |= set(section)
            data = section["Block"]["Data"]
            self.sections.append((int(number), data))
            self.changes += struct.unpack_from(">H", data, len(data) - 4)[0]
            for sums, (_, entries, _) in (
                (self.blocks, palette(data, 4)),
                (self.fluids, palette(section["Fluid"]["Data"], 0)),
            ):
                for _, name, count in entries:
                    sums[name] = sums.get(name, 0) + count
        self.fluids.pop("Empty", None)
        self.environments = environments(root["EnvironmentChunk"]["Data"])
        blocks = root["BlockComponentChunk"].get("BlockComponents", {})
        self.block_entities = {int(key): value["Components"] for key, value in blocks.items()}
        self.entities = [
            value["Components"] for value in root["EntityChunk"].get("Entities", {}).values()
        ]

    def entity_names(self):
        for entity in self.entities:
            names = {
                entity.get("NPC", {}).get("RoleName"),
                entity.get("Model", {}).get("Model", {}).get("Id"),
                entity.get("Nameplate", {}).get("Text"),
                entity.get("Item", {}).get("Item", {}).get("Id"),
                entity.get("SpawnMarkerComponent", {}).get("SpawnMarker"),
                entity.get("BlockEntity", {}).get("BlockTypeKey"),
            }
            yield {name for name in names if name} or {next(iter(entity))}

    def items(self):
        """Returns id, count and position of every stack."""
        for key, block in self.block_entities.items():
            at = (self.x * 32 + (key & 31), key >> 10 & 511, self.z * 32 + (key >> 5 & 31))
            for name, count in stacks(block):
                yield name, count, at
        for entity in self.entities:
            found = list(stacks(entity))
            if "Item" in entity:
                found.append((entity["Item"]["Item"]["Id"], entity["Item"]["Item"]["Quantity"]))
            position = entity["Transform"]["Position"]
            at = tuple(math.floor(position[axis]) for axis in "XYZ")
            for name, count in found:
                yield name, count, at

    def cells(self, wanted):
        """Returns the positions of all cells with a name."""
        for number, data in self.sections:
            kind, entries, at = palette(data, 4)
            ids = {entry: name for entry, name, _ in entries if name in wanted}
            if not ids or kind == 0:
                continue
            for index in range(32768):
                if kind == 1:
                    byte = data[at + index // 2]
                    cell = byte >> 4 if index % 2 == 0 else byte & 15
                elif kind == 2:
                    cell = data[at + index]
                else:
                    cell = struct.unpack_from(">H", data, at + index * 2)[0]
                if cell in ids:
                    y = number * 32 + (index >> 10)
                    x, z = self.x * 32 + (index & 31), self.z * 32 + (index >> 5 & 31)
                    yield ids[cell], (x, y, z)


# --- selections -------------------------------------------------------------------------------

def has(names, pattern):
    return any(fnmatch.fnmatchcase(name.lower(), pattern.lower()) for name in names)


def total(counts, pattern):
    return sum(n for name, n in counts.items() if has([name], pattern))


def touches(c, x1, z1, x2, z2):
    """Returns whether the chunk has a block in a rectangle of blocks."""
    return c.x * 32 <= x2 and x1 <= c.x * 32 + 31 and c.z * 32 <= z2 and z1 <= c.z * 32 + 31


def block_distance(c, x, z):
    dx = max(c.x * 32 - x, x - (c.x * 32 + 31), 0)
    dz = max(c.z * 32 - z, z - (c.z * 32 + 31), 0)
    return math.hypot(dx, dz)


def entity_matches(c, pattern):
    return any(has(names, pattern) for names in c.entity_names())


def item_ids(c):
    return [name for name, _, _ in c.items()]


def region(c):
    return (c.x >> 5, c.z >> 5)


SELECTIONS = {
    "chunk:0,0": lambda c: (c.x, c.z) == (0, 0),
    "chunk:-8,-8..9,40": lambda c: -8 <= c.x <= 9 and -8 <= c.z <= 40,
    "block:-300,1000..-100,1200": lambda c: touches(c, -300, 1000, -100, 1200),
    "block:-1,-1..32,32": lambda c: -1 <= c.x <= 1 and -1 <= c.z <= 1,
    "region:-1,1": lambda c: region(c) == (-1, 1),
    "region:-1,-1..0,0": lambda c: region(c)[0] in (-1, 0) and region(c)[1] in (-1, 0),
    "square:chunk:-10,35:3": lambda c: abs(c.x + 10) <= 3 and abs(c.z - 35) <= 3,
    "square:block:0,0:100": lambda c: touches(c, -100, -100, 100, 100),
    "circle:chunk:-10,35:5": lambda c: (c.x + 10) ** 2 + (c.z - 35) ** 2 <= 25,
    "circle:block:-250,1100:150": lambda c: block_distance(c, -250, 1100) <= 150,
    "circle:block:3,9:333": lambda c: block_distance(c, 3, 9) <= 333,
    "circle:region:0,0:1": lambda c: math.hypot(*region(c)) <= 1,
    "x >= 0": lambda c: c.x >= 0,
    "x < 0 AND z > 5": lambda c: c.x < 0 and c.z > 5,
    "NOT (x = 3 OR z = 3)": lambda c: c.x != 3 and c.z != 3,
    "x != 0 and !z=0": lambda c: c.x != 0 and c.z != 0,
    "chunk:0,0 OR chunk:1,0 OR chunk:2,0 AND x > 1": lambda c: c.z == 0 and 0 <= c.x <= 2,
    "block = Ore_Gold*": lambda c: has(c.blocks, "Ore_Gold*"),
    "block = ore_gold_stone": lambda c: has(c.blocks, "ore_gold_stone"),
    "block != Rock_Stone": lambda c: "Rock_Stone" not in c.blocks,
    "block has all Rock_Stone,Soil_*": lambda c: has(c.blocks, "Rock_Stone") and has(c.blocks, "Soil_*"),
    "block has any \"Ore_Thorium_*, Ore_Cobalt_*\"": lambda c: has(c.blocks, "Ore_Thorium_*") or has(c.blocks, "Ore_Cobalt_*"),
    "block has none Ore_*,Plant_*": lambda c: not has(c.blocks, "Ore_*") and not has(c.blocks, "Plant_*"),
    "block[Ore_*] > 500": lambda c: total(c.blocks, "Ore_*") > 500,
    "block[Empty] >= 200000": lambda c: c.blocks.get("Empty", 0) >= 200000,
    "block[Rock_Stone] = 0 AND block = Rock_*": lambda c: "Rock_Stone" not in c.blocks and has(c.blocks, "Rock_*"),
    "Palette contains \"Rock_Stone,Empty\"": lambda c: {"Rock_Stone", "Empty"} <= set(c.blocks),
    "Palette !contains \"Rock_Stone,Soil_Grass\"": lambda c: not {"Rock_Stone", "Soil_Grass"} <= set(c.blocks),
    "kinds > 60": lambda c: len(set(c.blocks) - {"Empty"}) > 60,
    "fluid": lambda c: bool(c.fluids),
    "fluid = Water*": lambda c: has(c.fluids, "Water*"),
    "fluid[Lava*] > 1k": lambda c: total(c.fluids, "Lava*") > 1000,
    "environment = *Zone2*": lambda c: has(c.environments, "*Zone2*"),
    "Biome intersects \"Env_Zone1_Swamps,Env_Zone2_Savanna\"": lambda c: bool(c.environments & {"Env_Zone1_Swamps", "Env_Zone2_Savanna"}),
    "entities > 1": lambda c: len(c.entities) > 1,
    "#TileEntities >= 20": lambda c: len(c.block_entities) >= 20,
    "entity = *Skeleton*": lambda c: entity_matches(c, "*Skeleton*"),
    "entity[*marker*] > 2": lambda c: sum(has(names, "*marker*") for names in c.entity_names()) > 2,
    "item": lambda c: bool(item_ids(c)),
    "item = Weapon_* OR item = *Charcoal*": lambda c: has(item_ids(c), "Weapon_*") or has(item_ids(c), "*Charcoal*"),
    "container": lambda c: any(True for block in c.block_entities.values() for _ in containers(block)),
    "changes > 0": lambda c: c.changes > 0,
    "changes >= 10 AND NOT region:0,0": lambda c: c.changes >= 10 and region(c) != (0, 0),
    "raw > 300k": lambda c: c.raw > 300000,
    "component = BlockPhysics": lambda c: "BlockPhysics" in c.components,
    "component = ChunkSpawned*": lambda c: has(c.components, "ChunkSpawned*"),
    "(block = Ore_Iron* OR fluid) AND (x < -10 OR NOT z >= 36)":
        lambda c: (has(c.blocks, "Ore_Iron*") or bool(c.fluids)) and (c.x < -10 or not c.z >= 36),
}


def main():
    data = sys.stdin.buffer.read()
    chunks, at = [], 0
    while at < len(data):
        x, z, length = struct.unpack_from("<iiI", data, at)
        chunks.append(Chunk(x, z, data[at + 12:at + 12 + length]))
        at += 12 + length
    if sys.argv[1] == "select":
        selected = {
            query: [[c.x, c.z] for c in chunks if test(c)] for query, test in SELECTIONS.items()
        }
        json.dump(selected, sys.stdout)
        return
    wanted = set(sys.argv[2].split(",")) if len(sys.argv) > 2 else set()
    json.dump({
        "entities": sum(len(c.entities) for c in chunks),
        "items": [[name, count, *at] for c in chunks for name, count, at in c.items()],
        "cells": [[name, *at] for c in chunks for name, at in c.cells(wanted)],
        "changes": sum(c.changes for c in chunks),
    }, sys.stdout)


main()
