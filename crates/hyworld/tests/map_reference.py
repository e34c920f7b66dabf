#!/usr/bin/env python3
"""Draws the game's map image, as a second implementation for the tests.

Usage: map_reference.py CHUNKS ASSETS SCALE OUT

CHUNKS is a folder of documents named X.Z.bson, ASSETS a folder of assets. OUT gets the pixels as
RGBA, row by row, of the smallest rectangle with all chunks. It shares no code with the Rust
crates: it decodes documents and assets itself, from the description of the formats, and computes
with exact fractions where the crates use integers.
"""

import json
import math
import os
import struct
import sys
from fractions import Fraction


# --- BSON -------------------------------------------------------------------------------------

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
            length = struct.unpack_from("<i", data, at)[0]
            out[key] = bson(data, at)
            at += length
        elif kind == 5:
            length = struct.unpack_from("<i", data, at)[0]
            out[key] = data[at + 5:at + 5 + length]
            at += 5 + length
        elif kind == 2:
            length = struct.unpack_from("<i", data, at)[0]
            out[key] = data[at + 4:at + 3 + length].decode()
            at += 4 + length
        elif kind == 16:
            out[key] = struct.unpack_from("<i", data, at)[0]
            at += 4
        elif kind in (1, 9, 18, 17):
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


# --- binary fields ----------------------------------------------------------------------------

class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        value = struct.unpack_from(form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def raw(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def utf(self):
        return self.raw(self.take(">H")).decode()


def palette(data):
    """Returns a function from a cell to a name."""
    kind = data.take(">B")
    if kind == 0:
        return lambda cell: "Empty"
    id_form = ">H" if kind == 3 else ">B"
    names = {}
    for _ in range(data.take(">h")):
        number = data.take(id_form)
        names[number] = data.utf()
        data.take(">h")
    if kind == 1:
        cells = data.raw(16384)
        return lambda cell: names[cells[cell >> 1] >> (0 if cell & 1 else 4) & 15]
    if kind == 2:
        cells = data.raw(32768)
        return lambda cell: names[cells[cell]]
    cells = data.raw(65536)
    return lambda cell: names[cells[2 * cell] << 8 | cells[2 * cell + 1]]


def columns(data, form):
    """Returns the 1,024 values of a column palette."""
    keys = [data.take(form) for _ in range(data.take("<h"))] or [0]
    bits = int.from_bytes(data.raw(data.take("<i")), "little")
    return [keys[bits >> 10 * k & 1023] for k in range(1024)]


def environments(data):
    """Returns a function from column and height to a name."""
    data = Bytes(data)
    names = {}
    for _ in range(data.take(">i")):
        number = data.take(">i")
        names[number] = data.utf()
    found = []
    for _ in range(1024):
        count = data.take(">i")
        tops = [data.take(">i") for _ in range(count)]
        found.append((tops, [data.take(">i") for _ in range(count + 1)]))

    def name(k, y):
        tops, ids = found[k]
        return names.get(ids[sum(1 for top in tops if y > top)], "Unknown")
    return name


class Chunk:
    def __init__(self, document):
        parts = document["Components"]
        block = Bytes(parts["BlockChunk"]["Data"])
        block.take("<B")
        self.heights = columns(block, "<h")
        self.tints = columns(block, "<i")
        self.environment = environments(parts["EnvironmentChunk"]["Data"])
        sections = parts["ChunkColumn"]["Sections"]
        self.sections = [sections[str(y)]["Components"] for y in range(10)]
        self.decoded = {}

    def name(self, part, x, y, z):
        key = part, y >> 5
        if key not in self.decoded:
            data = Bytes(self.sections[y >> 5][part]["Data"])
            if part == "Block":
                data.take(">i")
            self.decoded[key] = palette(data)
        return self.decoded[key]((y & 31) << 10 | z << 5 | x)


# --- assets -----------------------------------------------------------------------------------

def color(text):
    return tuple(int(text[at:at + 2], 16) for at in (1, 3, 5))


class Assets:
    def __init__(self, root):
        self.files = {}
        for kind in ("Item/Items", "Item/Block/Fluids", "Environments"):
            for folder, _, names in os.walk(os.path.join(root, "Server", kind)):
                for name in names:
                    with open(os.path.join(folder, name)) as file:
                        self.files[kind, name[:-5]] = json.load(file)

    def field(self, kind, name, keys):
        """Returns the first of several keys of an asset or of its nearest parent that has one."""
        while name is not None:
            asset = self.files[kind, name]
            fields = asset.get("BlockType", {}) if kind == "Item/Items" else asset
            for key in keys:
                if key in fields:
                    return fields[key]
            name = asset.get("Parent")
        return None

    def block(self, name, keys):
        mark = "_State_Definitions_"
        if name.startswith("*") and mark in name:
            base, state = name[1:].rsplit(mark, 1)
            definitions = self.block(base, ["State"])
            fields = definitions["Definitions"][state]
            for key in keys:
                if key in fields:
                    return fields[key]
            return None if keys == ["State"] else self.block(base, keys)
        return self.field("Item/Items", name, keys)


# --- the image --------------------------------------------------------------------------------

def times(a, b):
    return tuple(x * y // 255 for x, y in zip(a, b))


def mix(a, b, share):
    return tuple(math.floor(x + (y - x) * share) for x, y in zip(a, b))


def ground_color(assets, name, tint):
    tints = assets.block(name, ["TintUp", "Tint"])
    own = color(tints[0]) if tints else (255, 255, 255)
    share = Fraction(assets.block(name, ["BiomeTintUp", "BiomeTint"]) or 0, 100)
    biome = (tint >> 16 & 255, tint >> 8 & 255, tint & 255)
    mixed = mix(own, biome, share)
    particle = assets.block(name, ["ParticleColor"])
    return times(mixed, color(particle)) if particle and share < 1 else mixed


def fluid_color(assets, chunk, x, z, height):
    """Returns colour and depth of the highest fluid; None if there is none."""
    def particle(name):
        return None if name == "Empty" else assets.field("Item/Block/Fluids", name, ["ParticleColor"])
    y = 319
    while y >= height and chunk.name("Fluid", x, y, z) == "Empty":
        y -= 1
    if y < height:
        return None
    top, name = y, chunk.name("Fluid", x, y, z)
    while y > height and particle(chunk.name("Fluid", x, y, z)) == particle(name):
        y -= 1
    result = (255, 255, 255)
    if assets.field("Item/Block/Fluids", name, ["Effect"]) == "Water":
        environment = chunk.environment(z * 32 + x, top)
        result = times(result, color(assets.field("Environments", environment, ["WaterTint"])))
    return times(result, color(particle(name))), top - y + 1


def shade(h, around, u, v):
    nw, n, ne, w, e, sw, s, se = around
    ud, vd = (u + v) / 2, (1 - u + v) / 2
    gx = 2 * ((h - w) * (1 - u) + (e - h) * u) + ((h - nw) * (1 - ud) + (se - h) * ud)
    gz = 2 * ((h - n) * (1 - v) + (s - h) * v) + ((h - ne) * (1 - vd) + (sw - h) * vd)
    normal = math.sqrt(gx * gx + 9 + gz * gz)
    light = math.sqrt(0.2 * 0.2 + 0.8 * 0.8 + 0.5 * 0.5)
    dot = (gx / normal) * (-0.2 / light) + (3 / normal) * (0.8 / light) + (gz / normal) * (0.5 / light)
    return 0.4 + 0.6 * max(0.0, dot)


def height_at(chunks, at, x, z):
    """Returns the height at a column that may be beyond the border of the chunk."""
    cx, cz = at
    if z < 0 and x < 0:
        cx, cz = cx + 1, cz - 1  # the corners in the north are exchanged
    elif z < 0 and x > 31:
        cx, cz = cx - 1, cz - 1
    else:
        cx, cz = cx + (x > 31) - (x < 0), cz + (z > 31) - (z < 0)
    chunk = chunks.get((cx, cz))
    return chunk.heights[(z & 31) * 32 + (x & 31)] if chunk else 0


def draw(chunks, assets, scale):
    west, north = min(x for x, _ in chunks), min(z for _, z in chunks)
    east, south = max(x for x, _ in chunks), max(z for _, z in chunks)
    width, height = (east - west + 1) * 32 * scale, (south - north + 1) * 32 * scale
    pixels = bytearray(width * height * 4)
    beside = [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)]
    for (cx, cz), chunk in chunks.items():
        for z in range(32):
            for x in range(32):
                h = chunk.heights[z * 32 + x]
                name = "Empty" if h < 0 else chunk.name("Block", x, h, z)
                if name == "Empty":
                    continue
                base = ground_color(assets, name, chunk.tints[z * 32 + x])
                fluid = fluid_color(assets, chunk, x, z, h)
                around = [height_at(chunks, (cx, cz), x + dx, z + dz) for dx, dz in beside]
                for j in range(scale):
                    for i in range(scale):
                        light = shade(h, around, (i + 0.5) / scale, (j + 0.5) / scale)
                        rgb = tuple(min(255, max(0, int(c * light))) for c in base)
                        if fluid:
                            rgb = mix(fluid[0], rgb, min(1, Fraction(1, fluid[1])))
                        px = ((cx - west) * 32 + x) * scale + i
                        py = ((cz - north) * 32 + z) * scale + j
                        at = (py * width + px) * 4
                        pixels[at:at + 4] = bytes((*rgb, 255))
    return pixels


def main():
    folder, assets, scale, out = sys.argv[1:]
    chunks = {}
    for name in os.listdir(folder):
        x, z, _ = name.split(".")
        with open(os.path.join(folder, name), "rb") as file:
            chunks[int(x), int(z)] = Chunk(bson(file.read()))
    with open(out, "wb") as file:
        file.write(draw(chunks, Assets(assets), int(scale)))


main()
