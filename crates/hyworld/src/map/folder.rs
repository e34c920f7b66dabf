//! [`MapFolder`]: a folder with tiles, a viewer and what the viewer shows.
//!
//! ```text
//! index.html, viewer.js, ...      the viewer
//! map.js                          the names of the worlds
//! worlds/WORLD.js                 layers, markers and chunks of a world
//! tiles/WORLD/LAYER/LEVEL/X/Z.webp
//! tiles/WORLD/info/0/X/Z.js       heights and names of columns
//! state/WORLD.json                what the tiles were painted from
//! state/drawing.lock              locked while a process draws
//! ```

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_files::{FileError, LockError, LockFile, read_regular_text, with_suffix};
use hyworld_map::{
    FolderSink, MapError, MapState, PARTIAL_SUFFIX, Sink, TILE_PIXELS, TileFormat, TilePos,
    VIEWER_FILES, write_map_file,
};
use serde::Serialize;

use super::input::bounds;
use super::markers::Marker;
use super::run::INFO_LAYER;
use crate::error::{Error, ErrorKind, Result};

/// The file that marks a folder as a map.
const MAP_FILE: &str = "map.js";

/// The maximum length of a state. A map of a million chunks has less than 100 MB.
pub(super) const STATE_BYTES_MAX: u64 = 256 << 20;

/// The maximum length of the name of a world's files in characters.
const ID_CHARS_MAX: usize = 100;

/// A folder that contains a map.
#[derive(Clone, Debug)]
pub struct MapFolder {
    folder: PathBuf,
}

/// What the viewer shows of a world. Serializes to its file. Maps are published, so nothing in it
/// names a path of this machine.
#[derive(Clone, Debug, Serialize)]
pub struct WorldPage {
    /// The name of its files.
    pub id: String,
    /// The name that is shown.
    pub name: String,
    /// The layers, in the order of the switcher.
    pub layers: Vec<LayerPage>,
    /// The ending of tiles.
    pub format: &'static str,
    /// The pixels for each side of a block.
    pub scale: u8,
    /// The pixels for each side of a tile.
    pub tile_pixels: u32,
    /// Whether there are heights and names of columns.
    pub has_info: bool,
    /// The first and last chunk from west to east, and from north to south.
    pub bounds: [i32; 4],
    /// The markers.
    pub markers: Vec<Marker>,
    /// The chunks of each region on the map, by `X,Z`: 1,024 bits in hexadecimal digits, four
    /// chunks per digit, the first one in the highest bit.
    pub regions: BTreeMap<String, String>,
    /// The colours of environments.
    pub legend: BTreeMap<String, String>,
}

/// A layer of a world.
#[derive(Clone, Debug, Serialize)]
pub struct LayerPage {
    /// The name of its folder.
    pub id: String,
    /// The number of levels.
    pub levels: u8,
}

impl MapFolder {
    /// Creates or opens a folder.
    ///
    /// # Errors
    /// Returns an error if the folder has other files and is not a map, or cannot be created.
    pub fn open(folder: &Path) -> Result<Self> {
        let entries = fs::read_dir(folder);
        // A killed process may have left the file that it was writing.
        let is_own = |name: &OsStr| name == with_suffix(Path::new(MAP_FILE), PARTIAL_SUFFIX);
        let is_empty = entries.is_ok_and(|mut entries| {
            entries.all(|entry| entry.is_ok_and(|entry| is_own(&entry.file_name())))
        });
        if folder.exists() && !is_empty && !folder.join(MAP_FILE).is_file() {
            let text = format!(
                "{}: not an empty folder and not a map; choose another name for the map",
                folder.display()
            );
            return Err(Error::new(ErrorKind::BadLocation, text));
        }
        let this = Self { folder: folder.to_owned() };
        // Marks the folder before anything else is in it.
        if !folder.join(MAP_FILE).is_file() {
            this.write_names(&[])?;
        }
        for part in ["worlds", "state", "tiles", "leaflet"] {
            let path = folder.join(part);
            fs::create_dir_all(&path).map_err(FileError::at(&path, "create"))?;
        }
        Ok(this)
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Returns the name of the files of a world: letters, digits, `-` and `_`; other characters as
    /// `~` and their number.
    pub fn id_of(name: &str) -> String {
        let mut id = String::new();
        for character in name.chars().take(ID_CHARS_MAX) {
            if character.is_ascii_alphanumeric() || "-_".contains(character) {
                id.push(character);
            } else {
                let number = format!("~{:x}~", u32::from(character));
                id.push_str(&number);
            }
        }
        if id.is_empty() { "world".to_owned() } else { id }
    }

    /// Returns where the tiles of a world are written.
    pub fn sink(&self, id: &str, format: TileFormat) -> WorldSink {
        let folder = self.folder.join("tiles").join(id);
        WorldSink {
            pictures: FolderSink::new(&folder, format.ending()),
            scripts: FolderSink::new(&folder, "js"),
        }
    }

    /// Locks the folder, so that no other process draws into it until the lock is dropped.
    pub(super) fn lock(&self) -> Result<LockFile> {
        lock_map(&self.folder, &self.folder.join("state").join("drawing.lock"))
    }

    fn state_path(&self, id: &str) -> PathBuf {
        self.folder.join("state").join(format!("{id}.json"))
    }

    /// Reads the state of a world; an empty one if there is none or it is damaged.
    pub fn state(&self, id: &str) -> MapState {
        let text = read_regular_text(&self.state_path(id), STATE_BYTES_MAX);
        text.ok().and_then(|text| MapState::from_json(&text)).unwrap_or_default()
    }

    /// Replaces the state of a world.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn save_state(&self, id: &str, state: &MapState) -> Result<()> {
        Ok(write_map_file(&self.state_path(id), state.to_json().as_bytes())?)
    }

    /// Removes all tiles of a world.
    pub(super) fn remove_tiles(&self, id: &str) -> Result<()> {
        let path = self.folder.join("tiles").join(id);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(FileError::at(&path, "remove")(error).into())
            }
            _ => Ok(()),
        }
    }

    fn page_path(&self, id: &str) -> PathBuf {
        self.folder.join("worlds").join(format!("{id}.js"))
    }

    /// Writes what the viewer shows of a world.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn write_page(&self, page: &WorldPage) -> Result<()> {
        let json = serde_json::to_string(page).map_err(|error| Error::new(ErrorKind::Io, error))?;
        let text = format!("hyworldWorld({json})\n");
        write_if_changed(&self.page_path(&page.id), text.as_bytes())?;
        self.write_list()
    }

    /// Writes the files of the viewer.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn write_viewer(&self) -> Result<()> {
        let mut files = VIEWER_FILES.iter();
        files.try_for_each(|(name, bytes)| write_if_changed(&self.folder.join(name), bytes))
    }

    /// Writes the list of worlds.
    fn write_list(&self) -> Result<()> {
        let folder = self.folder.join("worlds");
        let entries = fs::read_dir(&folder).map_err(FileError::at(&folder, "list"))?;
        let names = entries.flatten().map(|entry| entry.file_name());
        let names = names.filter_map(|name| Some(name.to_str()?.strip_suffix(".js")?.to_owned()));
        let mut worlds: Vec<String> = names.collect();
        worlds.sort();
        self.write_names(&worlds)
    }

    fn write_names(&self, worlds: &[String]) -> Result<()> {
        let json = serde_json::to_string(worlds);
        let json = json.map_err(|error| Error::new(ErrorKind::Io, error))?;
        let text = format!("hyworldMap({{\"worlds\":{json}}})\n");
        write_if_changed(&self.folder.join(MAP_FILE), text.as_bytes())
    }
}

/// Locks a map with a lock file, so that no other process draws it until the lock is dropped.
pub(super) fn lock_map(map: &Path, lock: &Path) -> Result<LockFile> {
    let holder = format!("process {}", std::process::id());
    LockFile::acquire(lock, &holder).map_err(|error| match error {
        LockError::Held { text } => {
            let map = map.display();
            let text =
                format!("{map}: another program draws this map ({text}); wait until it is done");
            Error::new(ErrorKind::InUse, text)
        }
        LockError::File(error) => error.into(),
    })
}

/// Replaces a file unless it has these bytes. Replacing a file is much slower than reading it.
fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    Ok(write_map_file(path, bytes)?)
}

/// The tiles of a world in a [`MapFolder`].
#[derive(Debug)]
pub struct WorldSink {
    pictures: FolderSink,
    scripts: FolderSink,
}

impl WorldSink {
    fn of(&self, layer: &str) -> &FolderSink {
        if layer == INFO_LAYER { &self.scripts } else { &self.pictures }
    }

    /// Removes files that a killed process left.
    ///
    /// # Errors
    /// Returns an error if a file cannot be removed.
    pub fn remove_partial_files(&self) -> Result<()> {
        Ok(self.pictures.remove_partial_files()?)
    }
}

impl Sink for WorldSink {
    fn has(&self, layer: &str, at: TilePos, bytes: u64) -> bool {
        self.of(layer).has(layer, at, bytes)
    }

    fn read(&self, layer: &str, at: TilePos) -> Result<Option<Vec<u8>>, MapError> {
        self.of(layer).read(layer, at)
    }

    fn write(&self, layer: &str, at: TilePos, bytes: &[u8]) -> Result<(), MapError> {
        self.of(layer).write(layer, at, bytes)
    }

    fn remove(&self, layer: &str, at: TilePos) -> Result<(), MapError> {
        self.of(layer).remove(layer, at)
    }
}

impl WorldPage {
    /// Describes a world whose tiles were drawn with this state.
    pub fn new(id: &str, state: &MapState, positions: &[ChunkPos]) -> Self {
        let layers = state.layers.iter().filter(|(name, _)| *name != INFO_LAYER);
        let layers = layers.map(|(name, layer)| LayerPage {
            id: name.clone(),
            levels: layer.tiles.keys().map(|tile| tile.level).max().unwrap_or(0).saturating_add(1),
        });
        let mut layers: Vec<LayerPage> = layers.collect();
        let order = |layer: &LayerPage| {
            let name = layer.id.split('-').next().unwrap_or_default().to_owned();
            hyworld_map::Layer::NAMES.iter().position(|known| **known == name)
        };
        layers.sort_by_key(order);
        let area = bounds(positions);
        Self {
            id: id.to_owned(),
            name: id.to_owned(),
            layers,
            format: TileFormat::default().ending(),
            scale: 1,
            tile_pixels: TILE_PIXELS,
            has_info: state.layers.contains_key(INFO_LAYER),
            bounds: [area.min().x, area.max().x, area.min().z, area.max().z],
            markers: Vec::new(),
            regions: region_bits(positions),
            legend: BTreeMap::new(),
        }
    }
}

/// Returns the chunks of each region as bits.
fn region_bits(positions: &[ChunkPos]) -> BTreeMap<String, String> {
    let mut regions: BTreeMap<RegionPos, [u8; 128]> = BTreeMap::new();
    for at in positions {
        let index = usize::from(at.slot().index());
        let bits = regions.entry(at.region()).or_insert([0; 128]);
        if let Some(byte) = bits.get_mut(index / 8) {
            *byte |= 0x80 >> (index % 8);
        }
    }
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
    let hex = |bits: [u8; 128]| {
        bits.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
    };
    regions.into_iter().map(|(at, bits)| (format!("{},{}", at.x, at.z), hex(bits))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_safe_and_different() {
        let names = ["default", "my world", "my_world", "..", "a/b", "", "Welt\u{e4}"];
        let ids = names.map(MapFolder::id_of);
        assert_eq!(ids[0], "default");
        assert_eq!(ids[1], "my~20~world");
        assert_eq!(ids[3], "~2e~~2e~");
        let is_safe =
            |id: &String| id.chars().all(|it| it.is_ascii_alphanumeric() || "-_~".contains(it));
        assert!(ids.iter().all(is_safe), "{ids:?}");
    }

    #[test]
    fn other_folders_are_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("world");
        fs::create_dir(&path).unwrap();
        MapFolder::open(&path).unwrap();
        MapFolder::open(&path).unwrap();
        let other = folder.path().join("other");
        fs::create_dir(&other).unwrap();
        hyworld_testkit::write_file(&other.join("config.json"), b"{}");
        let error = MapFolder::open(&other).unwrap_err();
        assert!(error.to_string().contains("not a map"), "{error}");
        assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
    }

    #[test]
    fn chunks_are_bits_of_their_region() {
        let chunks = [(0, 0), (3, 0), (4, 0), (31, 31), (-1, 5)];
        let regions = region_bits(&chunks.map(|(x, z)| ChunkPos::new(x, z)));
        let here = &regions["0,0"];
        assert_eq!((here.len(), &here[..2], &here[255..]), (256, "98", "1"));
        assert_eq!(regions.keys().collect::<Vec<_>>(), ["-1,0", "0,0"]);
    }
}
