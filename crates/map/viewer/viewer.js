"use strict";
/* The page: the map, the menu, the cursor, markers and selecting. */

const element = (id) => document.getElementById(id);

const viewer = {
  map: undefined,
  world: undefined,
  layer: undefined,
  tiles: undefined,
  overlay: undefined,
  markers: L.layerGroup(),
  hiddenKinds: new Set(),
  selection: new Selection(),
  hasChunkGrid: false,
  hasRegionGrid: false,
  mode: undefined,
  /** The paths of worlds, by id; published maps have none. */
  paths: {},
};

/** Called by `map.js`. */
async function hyworldMap(list) {
  const version = list.live ? `?v=${Date.now()}` : "";
  const loaded = list.worlds.map((id) => loadScript(`worlds/${id}.js${version}`, id).catch(() => undefined));
  await Promise.all(loaded);
  const worlds = list.worlds.map((id) => mapData.worlds.get(id)).filter((world) => world !== undefined);
  if (list.live && worlds.length < list.worlds.length) {
    // The server is still listing the chunks of a world.
    notice("Loading the worlds...");
    setTimeout(() => hyworldMap(list), 500);
    return;
  }
  if (worlds.length === 0) {
    notice("This map is empty.", true);
    return;
  }
  viewer.paths = list.paths ?? {};
  startMap(worlds);
  if (list.live) {
    startLive();
  }
  document.body.dataset.ready = "yes";
}

function startMap(worlds) {
  viewer.map = L.map("map", {
    crs: L.CRS.Simple, minZoom: -30, maxZoom: 6, zoomControl: true, attributionControl: false, boxZoom: false,
    zoomSnap: 0.5, wheelPxPerZoomLevel: 100, preferCanvas: true,
  });
  viewer.overlay = new Overlay(viewer);
  for (const world of worlds) {
    element("world").add(new Option(world.name, world.id));
  }
  element("world").parentElement.hidden = worlds.length < 2;
  connectMenu();
  connectMap();
  const view = parseHash();
  showWorld(view?.world ?? worlds[0].id, view?.layer);
  if (view === undefined) {
    showAll();
  } else {
    viewer.map.setView(toLatLng(view.x, view.z), view.zoom, { animate: false });
  }
  viewer.overlay.addTo(viewer.map);
  viewer.markers.addTo(viewer.map);
  viewer.map.on("moveend", writeHash);
  writeHash();
  showScale();
}

function showAll() {
  const [west, east, north, south] = viewer.world.bounds.map((chunk) => chunk * 32);
  const isWide = window.innerWidth >= 600;
  const options = { animate: false, paddingTopLeft: [isWide ? 50 : 0, 0], paddingBottomRight: [isWide ? 230 : 0, 0] };
  viewer.map.fitBounds([toLatLng(west, north), toLatLng(east + 32, south + 32)], options);
}

function showWorld(id, layer) {
  viewer.world = mapData.worlds.get(id) ?? mapData.worlds.values().next().value;
  element("world").value = viewer.world.id;
  document.title = viewer.world.name;
  const select = element("layer");
  select.replaceChildren(...viewer.world.layers.map((it) => new Option(layerName(it.id), it.id)));
  select.disabled = viewer.world.layers.length < 2;
  const levels = Math.max(1, ...viewer.world.layers.map((it) => it.levels));
  viewer.map.setMinZoom(Math.log2(viewer.world.scale) - levels - 1);
  showLayer(layer ?? viewer.layer?.id);
  showKinds();
  showMarkers();
  clearSelection();
}

const layerName = (id) => {
  const name = id.replace(/-(\d+)$/, " at y $1");
  return name[0].toUpperCase() + name.slice(1);
};

function showLayer(id) {
  const { layers } = viewer.world;
  viewer.layer = layers.find((layer) => layer.id === id) ?? layers[0];
  const old = viewer.tiles;
  if (viewer.layer !== undefined) {
    element("layer").value = viewer.layer.id;
    viewer.tiles = new WorldTiles(viewer.world, viewer.layer).addTo(viewer.map);
  }
  old?.remove();
  showLegend();
}

function showLegend() {
  const entries = viewer.layer?.id === "environment" ? Object.entries(viewer.world.legend) : [];
  element("legend").replaceChildren(...entries.map(([name, color]) => {
    const line = document.createElement("div"), box = document.createElement("i");
    box.style.background = color;
    line.append(box, name);
    return line;
  }));
}

/* The URL: #world&x&z&zoom&layer */

function parseHash() {
  const parts = location.hash.slice(1).split("&").map(decodeURIComponent);
  const [x, z, zoom] = parts.slice(1, 4).map(Number);
  const isView = parts.length >= 4 && [x, z, zoom].every(Number.isFinite);
  return isView ? { world: parts[0], x, z, zoom, layer: parts[4] } : undefined;
}

function writeHash() {
  const { lat, lng } = viewer.map.getCenter();
  const view = [viewer.world.id, Math.round(lng), Math.round(-lat), viewer.map.getZoom(), viewer.layer?.id ?? ""];
  const hash = "#" + view.map(encodeURIComponent).join("&");
  if (hash !== location.hash) {
    history.replaceState(null, "", hash);
  }
}

/* The menu */

function connectMenu() {
  element("world").onchange = (event) => { showWorld(event.target.value); showAll(); writeHash(); };
  element("layer").onchange = (event) => { showLayer(event.target.value); writeHash(); };
  element("chunk-grid").onchange = (event) => { viewer.hasChunkGrid = event.target.checked; viewer.overlay.redraw(); };
  element("region-grid").onchange = (event) => { viewer.hasRegionGrid = event.target.checked; viewer.overlay.redraw(); };
  element("menu").onclick = () => {
    const isClosed = element("panel").classList.toggle("closed");
    element("menu").setAttribute("aria-expanded", String(!isClosed));
  };
  element("panel").classList.toggle("closed", window.innerWidth < 600);
  element("search").oninput = showResults;
  element("search").onkeydown = pressKeyInSearch;
  element("share").onclick = () => copy(location.href, "Link copied");
  element("theme").onclick = () => document.documentElement.classList.toggle("light");
  element("clear").onclick = clearSelection;
  for (const button of document.querySelectorAll("[data-mode]")) {
    button.onclick = () => setMode(viewer.mode === button.dataset.mode ? undefined : button.dataset.mode);
  }
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.onclick = () => copy(element(button.dataset.copy).value, "Copied");
  }
  document.addEventListener("keydown", pressKey);
  // Before the listeners of the document, so that the map gets this key too.
  window.addEventListener("keydown", (event) => {
    if (MAP_KEYS.has(event.key) && isCommand(event)) {
      focusMap();
    }
  }, true);
}

/** Keys that move and zoom the map, but only while it has the focus. */
const MAP_KEYS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "+", "=", "-"]);

function focusMap() {
  viewer.map.getContainer().focus({ preventScroll: true });
}

/** Returns whether a key is for the map, and not for a field with text, a list, or the browser. */
function isCommand(event) {
  const isTyping = event.target.matches?.("textarea, select, input:not([type=checkbox])");
  return !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
}

/** Goes to the first result on Enter. */
function pressKeyInSearch(event) {
  if (event.key !== "Enter" || event.isComposing) {
    return;
  }
  event.preventDefault();
  showResults();
  const first = element("results").querySelector("button");
  if (first === null) {
    notice("Nothing found");
  } else {
    first.click();
    focusMap();
  }
}

function pressKey(event) {
  if (!isCommand(event)) {
    return;
  }
  const modes = { r: "rectangle", l: "lasso", c: "chunk" }, key = event.key.toLowerCase();
  if (modes[key] !== undefined) {
    setMode(viewer.mode === modes[key] ? undefined : modes[key]);
  } else if (key === "g") {
    element("chunk-grid").click();
  } else if (key === "escape") {
    setMode(undefined);
  } else if (/^[1-9]$/.test(key) && viewer.world.layers[key - 1] !== undefined) {
    showLayer(viewer.world.layers[key - 1].id);
    writeHash();
  }
}

async function copy(text, message) {
  try {
    await navigator.clipboard.writeText(text);
    notice(message);
  } catch {
    // Browsers refuse the clipboard to pages of some folders: show the text instead.
    window.prompt("Copy this text:", text);
  }
}

function notice(text, stays) {
  const box = element("notice");
  box.textContent = text;
  box.hidden = false;
  if (!stays) {
    setTimeout(() => { box.hidden = true; }, 2500);
  }
}

/* Markers */

function showKinds() {
  const kinds = [...new Set(viewer.world.markers.map((marker) => marker.kind))];
  const boxes = kinds.map((kind) => {
    const label = document.createElement("label"), box = document.createElement("input");
    label.className = "row";
    box.type = "checkbox";
    box.checked = !viewer.hiddenKinds.has(kind);
    box.onchange = () => { viewer.hiddenKinds[box.checked ? "delete" : "add"](kind); showMarkers(); };
    label.append(box, ` ${kind[0].toUpperCase()}${kind.slice(1)}`);
    return label;
  });
  element("kinds").replaceChildren(element("kinds").firstElementChild, ...boxes);
  element("kinds").hidden = kinds.length === 0;
}

function showMarkers() {
  viewer.markers.clearLayers();
  for (const marker of viewer.world.markers) {
    if (viewer.hiddenKinds.has(marker.kind)) {
      continue;
    }
    const icon = L.divIcon({ className: `marker marker-${marker.kind}`, iconSize: [14, 14] });
    const text = document.createElement("div");
    const at = [marker.x, marker.y, marker.z].map(Math.floor).join(" ");
    text.append(Object.assign(document.createElement("b"), { textContent: marker.name }), document.createElement("br"), `${marker.kind} at ${at}`);
    L.marker(toLatLng(marker.x, marker.z), { icon, title: marker.name, alt: marker.name }).bindPopup(text).addTo(viewer.markers);
  }
}

function showResults() {
  const wanted = element("search").value.trim().toLowerCase();
  const numbers = /^(-?\d+)[\s,]+(-?\d+)(?:[\s,]+(-?\d+))?$/.exec(wanted);
  const found = [];
  if (numbers !== null) {
    const x = Number(numbers[1]), z = Number(numbers[3] ?? numbers[2]);
    found.push({ name: `Go to ${x} ${z}`, x, z });
  } else if (wanted !== "") {
    found.push(...viewer.world.markers.filter((marker) => marker.name.toLowerCase().includes(wanted)).slice(0, 50));
  }
  element("results").replaceChildren(...found.map((marker) => {
    const line = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.textContent = marker.name;
    button.onclick = () => viewer.map.setView(toLatLng(marker.x, marker.z), Math.max(viewer.map.getZoom(), 1));
    line.append(button);
    return line;
  }));
}

/* The cursor */

const blockAt = (latLng) => [Math.floor(latLng.lng), Math.floor(-latLng.lat)];

async function showCursor(latLng) {
  const [x, z] = blockAt(latLng), { world } = viewer;
  const place = `block ${x}, ${z} | chunk ${x >> 5}, ${z >> 5} | region ${x >> 10}, ${z >> 10}`;
  viewer.cursor = place;
  element("cursor").textContent = place;
  const column = await columnAt(world, x, z);
  if (column !== undefined && viewer.cursor === place) {
    const names = [`height ${column.height}`, column.block, column.environment].filter((text) => text !== undefined);
    element("cursor").textContent = `${place} | ${names.join(" | ")}`;
  }
}

function showScale() {
  const blocks = 120 * 2 ** -viewer.map.getZoom();
  const power = 10 ** Math.floor(Math.log10(blocks));
  const round = [5, 2, 1].map((digit) => digit * power).find((value) => value <= blocks) ?? power;
  element("scale").textContent = `${round.toLocaleString("en")} blocks`;
  element("scale").style.minWidth = `${Math.round(round * 2 ** viewer.map.getZoom())}px`;
}

/* Selecting */

function setMode(mode) {
  viewer.mode = mode;
  viewer.map.dragging[mode === undefined || mode === "chunk" ? "enable" : "disable"]();
  const { classList } = viewer.map.getContainer();
  classList.toggle("selecting", mode !== undefined);
  classList.toggle("drawing", mode === "rectangle" || mode === "lasso");
  for (const button of document.querySelectorAll("[data-mode]")) {
    button.classList.toggle("active", button.dataset.mode === mode);
  }
}

function clearSelection() {
  viewer.selection.clear();
  showSelection();
}

function showSelection() {
  const { selection, world } = viewer, count = selection.chunks.size;
  element("selection").hidden = count === 0;
  element("count").textContent = count === 1 ? "1 chunk selected" : `${count.toLocaleString("en")} chunks selected`;
  element("selection-text").value = selection.text();
  element("selection-command").value = count === 0 ? "" : selection.command(viewer.paths[world.id] ?? world.name);
  element("selection-csv").value = selection.csv();
  viewer.overlay?.redraw();
}

/** Selects the stored chunks of a box for which `test` holds. */
function selectBox(points, test) {
  const chunks = (axis) => points.map((point) => point[axis] >> 5);
  const [west, east] = [Math.min(...chunks(0)), Math.max(...chunks(0))];
  const [north, south] = [Math.min(...chunks(1)), Math.max(...chunks(1))];
  const [first, last, top, bottom] = viewer.world.bounds;
  for (let z = Math.max(north, top); z <= Math.min(south, bottom); z += 1) {
    for (let x = Math.max(west, first); x <= Math.min(east, last); x += 1) {
      if (hasChunk(viewer.world, x, z) && test(x, z)) {
        viewer.selection.add(x, z);
      }
    }
  }
  showSelection();
}

function connectMap() {
  const { map } = viewer;
  let points, shape;
  map.on("mousemove", (event) => showCursor(event.latlng));
  map.on("zoomend", showScale);
  map.on("click", (event) => {
    showCursor(event.latlng);
    const [x, z] = blockAt(event.latlng).map((block) => block >> 5);
    if (viewer.mode === "chunk" && hasChunk(viewer.world, x, z)) {
      viewer.selection.toggle(x, z);
      showSelection();
    }
  });
  const start = (latLng) => {
    points = [blockAt(latLng)];
    const options = { interactive: false };
    shape = viewer.mode === "lasso" ? L.polygon([latLng], options) : L.rectangle([latLng, latLng], options);
    shape.addTo(map);
  };
  const drag = (latLng) => {
    points.push(blockAt(latLng));
    if (viewer.mode === "lasso") {
      shape.addLatLng(latLng);
    } else {
      shape.setBounds(L.latLngBounds(toLatLng(...points[0]), latLng));
    }
  };
  const stop = () => {
    const drawn = points;
    shape.remove();
    points = shape = undefined;
    if (viewer.mode === "lasso") {
      selectBox(drawn, (x, z) => isInside(drawn, x * 32 + 16, z * 32 + 16));
    } else {
      selectBox([drawn[0], drawn[drawn.length - 1]], () => true);
    }
  };
  const isDrawing = () => viewer.mode === "rectangle" || viewer.mode === "lasso";
  const container = map.getContainer();
  const position = (event) => map.mouseEventToLatLng(event);
  // Pointer events also come from fingers and pens.
  container.addEventListener("pointerdown", (event) => {
    if (isDrawing() && event.isPrimary && !event.target.closest(".leaflet-control")) {
      start(position(event));
    }
  });
  container.addEventListener("pointermove", (event) => {
    if (points !== undefined && event.isPrimary) {
      drag(position(event));
    }
  });
  for (const name of ["pointerup", "pointercancel"]) {
    document.addEventListener(name, () => { if (points !== undefined) { stop(); } });
  }
}

/* Live maps */

/** Draws tiles again when the server says that the world changed. */
function startLive() {
  const events = new EventSource("events");
  events.addEventListener("changed", async (event) => {
    const { world, version } = JSON.parse(event.data);
    await loadScript(`worlds/${world}.js?v=${version}`, world).catch(() => undefined);
    const changed = mapData.worlds.get(world);
    changed.version = version;
    for (const key of [...mapData.columns.keys()]) {
      if (key.startsWith(`${world}/`)) {
        mapData.columns.delete(key);
      }
    }
    if (viewer.world.id === world) {
      viewer.world = changed;
      showLayer(viewer.layer?.id);
      showKinds();
      showMarkers();
    }
    document.body.dataset.version = version;
  });
}
