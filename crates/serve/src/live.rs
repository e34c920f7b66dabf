//! [`LiveMap`]: the map of a world while it changes.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyworld::providers::ChunkStorage;
use hyworld::{
    LayerPage, Location, MapFolder, MapInput, MarkerChoice, PageTexts, Result, TileOptions,
    TileRun, WorldPage, WorldSink, draw_tile, find_markers, find_worlds, load_colors,
};
use hyworld_assets::Colors;
use hyworld_coords::ChunkPos;
use hyworld_maintenance::{NoProgress, ScanOptions};
use hyworld_map::{Layer, MapState, Palette, Sink, TileFormat, TileGrid, TilePos, level_count};
use tempfile::TempDir;
use tokio::sync::broadcast;

use crate::metrics::Numbers;
use crate::watch::Watch;

/// The number of changes that are kept for a slow client. Older ones are not sent to it.
const EVENTS: usize = 16;

/// The layer with heights and names of columns.
const INFO_LAYER: &str = "info";

/// How a live map is drawn.
#[derive(Clone, Debug)]
pub struct LiveOptions {
    /// The layers.
    pub layers: Vec<Layer>,
    /// Whether blocks have the colours of the game's map or of their textures.
    pub palette: Palette,
    /// The game's assets, for colours.
    pub assets: Option<PathBuf>,
    /// Which markers are shown besides the public ones.
    pub markers: MarkerChoice,
    /// Whether clients see the path of the world, for commands. Otherwise they see its name.
    pub has_paths: bool,
    /// The folder for tiles; a temporary one if there is none.
    pub cache: Option<PathBuf>,
    /// How often region files are compared with what was drawn.
    pub poll: Duration,
    /// The number of threads that draw.
    pub jobs: NonZeroUsize,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self {
            layers: vec![Layer::Surface],
            palette: Palette::Game,
            assets: None,
            markers: MarkerChoice::default(),
            has_paths: false,
            cache: None,
            poll: Duration::from_secs(2),
            jobs: NonZeroUsize::MIN,
        }
    }
}

/// The map of one or more worlds while they change.
#[derive(Debug)]
pub struct LiveMap {
    pub(crate) worlds: Vec<LiveWorld>,
    options: LiveOptions,
    tiles: TileOptions,
    folder: MapFolder,
    events: broadcast::Sender<String>,
    pub(crate) drawn_tiles: AtomicU64,
    /// Removed when the map is dropped or closed.
    temporary: Mutex<Option<TempDir>>,
}

/// One world of a live map.
#[derive(Debug)]
pub(crate) struct LiveWorld {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The path for commands, if clients may see it.
    path: Option<String>,
    location: Location,
    colors: Colors,
    sink: WorldSink,
    /// The script that describes it.
    page: Mutex<Bytes>,
    pub(crate) watch: Mutex<Watch>,
    pub(crate) numbers: Mutex<Numbers>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LiveMap {
    /// Opens all worlds at a path. Nothing is drawn yet.
    ///
    /// # Errors
    /// Returns an error if there is no world, or the folder for tiles cannot be created.
    pub fn open(path: &Path, options: LiveOptions) -> Result<Self> {
        let temporary = match &options.cache {
            Some(_) => None,
            None => Some(TempDir::new().map_err(hyworld::files::FileError::at(path, "cache"))?),
        };
        let cache = options.cache.clone();
        let cache = cache.or_else(|| temporary.as_ref().map(|it| it.path().join("map")));
        let folder = MapFolder::open(&cache.unwrap_or_default())?;
        let format = TileFormat::Webp;
        let mut worlds = Vec::new();
        for path in find_worlds(path)? {
            worlds.push(LiveWorld::open(&path, &options, &folder, format)?);
        }
        // The scale of 1 always has a grid.
        let grid = TileGrid::new(1).ok_or_else(no_grid)?;
        let tiles = TileOptions {
            layers: options.layers.clone(),
            grid,
            format,
            has_info: true,
            is_forced: false,
        };
        let (events, _) = broadcast::channel(EVENTS);
        let drawn_tiles = AtomicU64::new(0);
        let temporary = Mutex::new(temporary);
        Ok(Self { worlds, options, tiles, folder, events, drawn_tiles, temporary })
    }

    /// Removes the temporary folder, even if a thread that does not end still holds the map.
    pub fn close(&self) {
        drop(lock(&self.temporary).take());
    }

    #[cfg(test)]
    pub(crate) fn tile_folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the names of the worlds.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.worlds.iter().map(|world| world.name.as_str())
    }

    /// Draws what changed, and then watches for changes, until `stop` is set.
    pub(crate) fn watch(&self, stop: &Arc<AtomicBool>) {
        let is_stopped = || stop.load(Ordering::Relaxed);
        while !is_stopped() {
            for world in &self.worlds {
                if !is_stopped() && lock(&world.watch).has_changed(&world.location) {
                    let result = self.update(world, stop);
                    lock(&world.numbers).last_error = result.err().map(|error| error.to_string());
                }
            }
            let pause = Duration::from_millis(50);
            let mut waited = Duration::ZERO;
            while waited < self.options.poll && !is_stopped() {
                std::thread::sleep(pause);
                waited = waited.saturating_add(pause);
            }
        }
    }

    /// Draws what changed in a world, and notifies the clients.
    fn update(&self, world: &LiveWorld, stop: &Arc<AtomicBool>) -> Result<()> {
        let storage = world.location.open()?;
        let mut positions: Vec<ChunkPos> =
            storage.positions().filter_map(std::result::Result::ok).collect();
        positions.sort_unstable();
        let markers = find_markers(&world.location, self.options.markers, None);
        let texts = PageTexts { name: world.name.clone(), markers };
        if lock(&world.page).is_empty() {
            // Tiles of level 0 can be drawn at once; overviews follow.
            world.set_page(&self.first_page(world, &positions, &texts));
        }
        let files = world.location.region_files()?;
        let scan = ScanOptions::new().jobs(self.options.jobs).cancel(Arc::clone(stop));
        let run = TileRun {
            input: self.input(world, &*storage),
            positions: &positions,
            beside: &[],
            regions: &files,
            options: &self.tiles,
            scan: &scan,
        };
        let report = self.folder.draw(run, texts, &NoProgress)?;
        self.drawn_tiles.fetch_add(report.rendered, Ordering::Relaxed);
        let path = self.folder.path().join("worlds").join(format!("{}.js", world.id));
        let page = std::fs::read(&path).map_err(hyworld::files::FileError::at(&path, "read"))?;
        *lock(&world.page) = page.into();
        let numbers = Numbers::measure(&files, positions.len() as u64);
        let version = numbers.scanned_ms;
        *lock(&world.numbers) = numbers;
        let event = serde_json::json!({ "world": world.id, "version": version });
        // Sending fails if there are no clients.
        let _receivers = self.events.send(event.to_string());
        Ok(())
    }

    fn first_page(&self, world: &LiveWorld, chunks: &[ChunkPos], texts: &PageTexts) -> WorldPage {
        let tiles = chunks.iter().map(|at| self.tiles.grid.tile_of(*at));
        let levels = level_count(tiles);
        let layers = self.options.layers.iter();
        let layers = layers.map(|layer| LayerPage { id: layer.file_name(), levels }).collect();
        let page = WorldPage::new(&world.id, &MapState::default(), chunks);
        WorldPage {
            name: texts.name.clone(),
            markers: texts.markers.clone(),
            layers,
            has_info: true,
            ..page
        }
    }

    /// Returns a receiver of changes.
    pub(crate) fn events(&self) -> broadcast::Receiver<String> {
        self.events.subscribe()
    }

    /// Returns the script with the list of worlds.
    pub(crate) fn list(&self) -> String {
        let ids: Vec<&str> = self.worlds.iter().map(|world| world.id.as_str()).collect();
        let path = |world: &LiveWorld| Some((world.id.clone(), world.path.clone()?));
        let paths: BTreeMap<String, String> = self.worlds.iter().filter_map(path).collect();
        let list = serde_json::json!({ "worlds": ids, "live": true, "paths": paths });
        format!("hyworldMap({list})\n")
    }

    /// Returns the script that describes a world.
    pub(crate) fn page(&self, id: &str) -> Option<Bytes> {
        let world = self.worlds.iter().find(|world| world.id == id)?;
        let page = lock(&world.page).clone();
        (!page.is_empty()).then_some(page)
    }

    /// Returns a tile, which is drawn if it is not stored. Returns `None` if nothing is there, or
    /// it is an overview that was not drawn yet.
    pub(crate) fn tile(&self, world: &str, layer: &str, at: TilePos) -> Result<Option<Vec<u8>>> {
        let is_known = layer == INFO_LAYER
            || self.options.layers.iter().any(|known| known.file_name() == layer);
        let world = self.worlds.iter().find(|known| known.id == world);
        let Some(world) = world.filter(|_| is_known) else { return Ok(None) };
        if let Some(bytes) = world.sink.read(layer, at)? {
            return Ok(Some(bytes));
        }
        if at.level > 0 {
            return Ok(None);
        }
        let files = self.draw_now(world, at)?;
        for (layer, bytes) in &files {
            if let Some(bytes) = bytes {
                world.sink.write(layer, at, bytes)?;
            }
        }
        Ok(files.into_iter().find(|(name, _)| name == layer).and_then(|(_, bytes)| bytes))
    }

    fn input<'a>(&self, world: &'a LiveWorld, storage: &'a dyn ChunkStorage) -> MapInput<'a> {
        MapInput { palette: self.options.palette, ..MapInput::new(storage, &world.colors) }
    }

    /// Draws one tile of level 0.
    fn draw_now(&self, world: &LiveWorld, at: TilePos) -> Result<Vec<(String, Option<Vec<u8>>)>> {
        let storage = world.location.open()?;
        let own = self.tiles.grid.chunks_of(at);
        // A chunk that cannot be read is stored too, and is hatched.
        let is_stored = |at: &ChunkPos| storage.size(*at).map_or(true, |size| size.is_some());
        let around = self.tiles.grid.chunks_around(at);
        let stored: Vec<ChunkPos> = around.in_rows().filter(is_stored).collect();
        let (mut positions, mut beside): (Vec<_>, Vec<_>) =
            stored.into_iter().partition(|at| own.contains(*at));
        if positions.is_empty() {
            return Ok(Vec::new());
        }
        positions.sort_unstable();
        beside.sort_unstable();
        let scan = ScanOptions::new().jobs(NonZeroUsize::MIN);
        let run = TileRun {
            input: self.input(world, &*storage),
            positions: &positions,
            beside: &beside,
            regions: &[],
            options: &self.tiles,
            scan: &scan,
        };
        self.drawn_tiles.fetch_add(1, Ordering::Relaxed);
        draw_tile(run, at)
    }
}

impl LiveWorld {
    fn open(
        path: &Path,
        options: &LiveOptions,
        folder: &MapFolder,
        format: TileFormat,
    ) -> Result<Self> {
        let location = Location::source(path)?;
        let colors = load_colors(options.assets.as_deref(), location.world_folder().as_deref())?;
        let name = location.world_name();
        let id = MapFolder::id_of(&name);
        let path = options.has_paths.then(|| path.display().to_string());
        Ok(Self {
            sink: folder.sink(&id, format),
            id,
            name,
            path,
            location,
            colors,
            page: Mutex::default(),
            watch: Mutex::default(),
            numbers: Mutex::default(),
        })
    }

    fn set_page(&self, page: &WorldPage) {
        // A page is made of text and numbers, which can always be written.
        let json = serde_json::to_string(page).unwrap_or_default();
        *lock(&self.page) = format!("hyworldWorld({json})\n").into();
    }
}

fn no_grid() -> hyworld::Error {
    hyworld::Error::new(hyworld::ErrorKind::Unsupported, "the scale of 1 has no grid")
}
