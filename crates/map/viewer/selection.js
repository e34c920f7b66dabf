"use strict";
/* The selected chunks, and the texts that name them. Does not use the page. */

/** A set of chunks. */
class Selection {
  constructor() {
    this.chunks = new Set();
  }

  add(x, z) {
    this.chunks.add(`${x},${z}`);
  }

  has(x, z) {
    return this.chunks.has(`${x},${z}`);
  }

  toggle(x, z) {
    if (!this.chunks.delete(`${x},${z}`)) {
      this.add(x, z);
    }
  }

  clear() {
    this.chunks.clear();
  }

  /** Returns the chunks as [x, z], by rows. */
  list() {
    const chunks = [...this.chunks].map((chunk) => chunk.split(",").map(Number));
    return chunks.sort((a, b) => a[1] - b[1] || a[0] - b[0]);
  }

  /** Returns rectangles [x, z, last x, last z] that cover exactly the chunks. */
  rectangles() {
    const open = new Map(), done = [];
    let row, runs = [];
    const close = (z) => {
      for (const [name, rectangle] of open) {
        if (rectangle[3] < z) {
          done.push(rectangle);
          open.delete(name);
        }
      }
    };
    const flush = () => {
      for (const [first, last] of runs) {
        const name = `${first},${last}`, above = open.get(name);
        if (above !== undefined && above[3] === row - 1) {
          above[3] = row;
        } else {
          if (above !== undefined) {
            done.push(above);
          }
          open.set(name, [first, row, last, row]);
        }
      }
      runs = [];
      close(row);
    };
    for (const [x, z] of this.list()) {
      if (row !== undefined && z !== row) {
        flush();
      }
      row = z;
      const run = runs[runs.length - 1];
      if (run !== undefined && run[1] === x - 1) {
        run[1] = x;
      } else {
        runs.push([x, x]);
      }
    }
    flush();
    return done.concat([...open.values()]);
  }

  /** Returns the selection in the language of `hyworld select`. */
  text() {
    const terms = this.rectangles().map(([x, z, lastX, lastZ]) =>
      x === lastX && z === lastZ ? `chunk:${x},${z}` : `chunk:${x},${z}..${lastX},${lastZ}`);
    return terms.join(" or ");
  }

  /** Returns the selection as CSV: region x, region z, chunk x, chunk z. */
  csv() {
    return this.list().map(([x, z]) => `${x >> 5};${z >> 5};${x};${z}`).join("\n");
  }

  /** Returns a command that selects the same chunks. */
  command(path) {
    return `hyworld select ${shellWord(path)} ${shellWord(this.text())}`;
  }
}

/** Quotes a word for a shell. */
function shellWord(word) {
  return /^[A-Za-z0-9_./:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Returns whether a point is inside of a polygon, given as a list of [x, z]. */
function isInside(polygon, x, z) {
  let inside = false;
  for (let index = 0, last = polygon.length - 1; index < polygon.length; last = index, index += 1) {
    const [ax, az] = polygon[index], [bx, bz] = polygon[last];
    if ((az > z) !== (bz > z) && x < (bx - ax) * (z - az) / (bz - az) + ax) {
      inside = !inside;
    }
  }
  return inside;
}
