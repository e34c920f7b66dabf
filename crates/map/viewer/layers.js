"use strict";
/* The layers of Leaflet: tiles, the grid, and the selection. A block is one unit; x is the longitude and -z the latitude. */

/** Converts a position of the world to one of Leaflet. */
const toLatLng = (x, z) => L.latLng(-z, x);

/** The tiles of a world. Tiles without chunks are not requested. */
const WorldTiles = L.GridLayer.extend({
  initialize(world, layer) {
    const native = Math.log2(world.scale);
    L.GridLayer.prototype.initialize.call(this, {
      tileSize: world.tile_pixels,
      maxNativeZoom: native,
      minNativeZoom: native - layer.levels + 1,
      maxZoom: 8,
      minZoom: -30,
      keepBuffer: 1,
    });
    Object.assign(this, { world, layer, native });
  },

  createTile(coords, done) {
    const level = this.native - coords.z;
    const tiles = this.world.tiles[level];
    if (tiles === undefined || !tiles.has(`${coords.x},${coords.y}`)) {
      const empty = document.createElement("div");
      setTimeout(() => done(null, empty));
      return empty;
    }
    const image = document.createElement("img");
    image.alt = "";
    image.onload = () => done(null, image);
    image.onerror = () => { image.style.visibility = "hidden"; done(null, image); };
    const version = this.world.version ? `?v=${this.world.version}` : "";
    image.src = `tiles/${this.world.id}/${this.layer.id}/${level}/${coords.x}/${coords.y}.${this.world.format}${version}`;
    return image;
  },
});

/** Lines between chunks and regions, and selected chunks, drawn over the tiles. */
const Overlay = L.GridLayer.extend({
  initialize(viewer) {
    L.GridLayer.prototype.initialize.call(this, { tileSize: 256, maxZoom: 8, minZoom: -30, pane: "overlayPane" });
    this.viewer = viewer;
  },

  createTile(coords) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 256;
    const blocks = 2 ** -coords.z;
    const area = { x: coords.x * 256 * blocks, z: coords.y * 256 * blocks, blocks };
    const context = canvas.getContext("2d");
    this.drawSelection(context, area);
    if (this.viewer.hasChunkGrid && 32 / blocks >= 8) {
      this.drawLines(context, area, 32, "#00000066");
    }
    if (this.viewer.hasRegionGrid && 1024 / blocks >= 8) {
      this.drawLines(context, area, 1024, "#e84040");
    }
    return canvas;
  },

  drawLines(context, { x, z, blocks }, side, color) {
    context.fillStyle = color;
    const first = (start) => Math.ceil(start / side) * side;
    for (let at = first(x); at < x + 256 * blocks; at += side) {
      context.fillRect(Math.round((at - x) / blocks), 0, 1, 256);
    }
    for (let at = first(z); at < z + 256 * blocks; at += side) {
      context.fillRect(0, Math.round((at - z) / blocks), 256, 1);
    }
  },

  drawSelection(context, { x, z, blocks }) {
    context.fillStyle = "#ffd84080";
    const size = Math.max(1, 32 / blocks);
    for (const chunk of this.viewer.selection.chunks) {
      const [chunkX, chunkZ] = chunk.split(",").map(Number);
      const left = (chunkX * 32 - x) / blocks, top = (chunkZ * 32 - z) / blocks;
      if (left > -size && top > -size && left < 256 && top < 256) {
        context.fillRect(left, top, size, size);
      }
    }
  },
});
