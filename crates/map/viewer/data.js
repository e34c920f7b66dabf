"use strict";
/* The data of a map: worlds, the chunks that are stored, and the columns under the cursor. All files are scripts, because pages
   that are opened from a folder cannot read other files. */

/** What the files of a map call: `hyworldMap` with the names of the worlds, `hyworldWorld` with one world, `hyworldInfo` with the
    columns of one tile. */
const mapData = { worlds: new Map(), waiting: new Map(), columns: new Map() };

/** Adds a script to the page. Resolves when it has run; rejects if it does not exist. */
function loadScript(source, world) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.dataset.world = world;
    script.onload = () => { script.remove(); resolve(); };
    script.onerror = () => { script.remove(); reject(new Error(source)); };
    document.head.appendChild(script);
  });
}

function hyworldWorld(world) {
  world.tiles = tilesOfLevels(world);
  mapData.worlds.set(world.id, world);
}

/** Called by the scripts of tiles, with deflated numbers in base 64. */
function hyworldInfo(x, z, info) {
  const world = document.currentScript.dataset.world;
  mapData.columns.set(`${world}/${x}/${z}`, unpackColumns(info));
}

/** Returns the chunk at a position of a region's bits. */
function hasBit(bits, index) {
  return (parseInt(bits[index >> 2], 16) & (8 >> (index & 3))) !== 0;
}

/** Returns whether a chunk is stored. */
function hasChunk(world, x, z) {
  const bits = world.regions[`${x >> 5},${z >> 5}`];
  return bits !== undefined && hasBit(bits, (z & 31) * 32 + (x & 31));
}

/** Returns the tiles that have chunks: a set of `x,z` for each level. */
function tilesOfLevels(world) {
  const side = world.tile_pixels / 32 / world.scale;
  const first = new Set();
  for (const [name, bits] of Object.entries(world.regions)) {
    const [rx, rz] = name.split(",").map(Number);
    for (let index = 0; index < 1024; index += 1) {
      if (hasBit(bits, index)) {
        const x = rx * 32 + (index & 31), z = rz * 32 + (index >> 5);
        first.add(`${Math.floor(x / side)},${Math.floor(z / side)}`);
      }
    }
  }
  const levels = [first];
  const count = Math.max(1, ...world.layers.map((layer) => layer.levels));
  while (levels.length < count) {
    const parents = new Set();
    for (const tile of levels[levels.length - 1]) {
      const [x, z] = tile.split(",").map(Number);
      parents.add(`${x >> 1},${z >> 1}`);
    }
    levels.push(parents);
  }
  return levels;
}

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Returns a promise of heights and of the numbers of blocks and environments. */
async function unpackColumns(info) {
  const view = new DataView((await inflate(info.data)).buffer);
  const count = info.side * info.side;
  const heights = new Int16Array(count), blocks = new Uint16Array(count), environments = new Uint16Array(count);
  let height = 0;
  for (let index = 0; index < count; index += 1) {
    height += view.getInt16(2 * index, true);
    heights[index] = height;
    height = heights[index];
    blocks[index] = view.getUint16(2 * (count + index), true);
    environments[index] = view.getUint16(2 * (2 * count + index), true);
  }
  return { side: info.side, heights, blocks, environments, blockNames: info.blocks, environmentNames: info.environments };
}

/** Returns a promise of the column at a block, or of nothing if it is not stored. */
async function columnAt(world, x, z) {
  if (!world.has_info || !hasChunk(world, x >> 5, z >> 5)) {
    return undefined;
  }
  const side = world.tile_pixels / world.scale;
  const tileX = Math.floor(x / side), tileZ = Math.floor(z / side);
  const key = `${world.id}/${tileX}/${tileZ}`;
  if (!mapData.columns.has(key)) {
    if (!mapData.waiting.has(key)) {
      const source = `tiles/${world.id}/info/0/${tileX}/${tileZ}.js${world.version ? "?v=" + world.version : ""}`;
      const loaded = loadScript(source, world.id).catch(() => mapData.columns.set(key, undefined));
      mapData.waiting.set(key, loaded.finally(() => mapData.waiting.delete(key)));
    }
    await mapData.waiting.get(key);
  }
  const columns = await mapData.columns.get(key);
  if (columns === undefined) {
    return undefined;
  }
  const index = (z - tileZ * side) * columns.side + (x - tileX * side);
  const height = columns.heights[index];
  return height === -32768 ? undefined : {
    height,
    block: columns.blockNames[columns.blocks[index]],
    environment: columns.environmentNames[columns.environments[index]],
  };
}
