//! [`Marker`]: positions that a map shows besides blocks.

use std::cmp::Ordering;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use hyworld_chunk::{Chunk, ContainerOwner};
use hyworld_coords::{ChunkPos, ColumnPos};
use hyworld_documents::{Document, Value};
use hyworld_files::read_regular_text;
use hyworld_maintenance::{ScanOptions, Scanned, scan_positions};
use hyworld_providers::Positions;
use hyworld_world::{OsFileSystem, Players, Resources, SpawnProvider, WorldOptions};
use serde::Serialize;

use crate::error::Result;
use crate::location::Location;

/// The maximum number of markers of a map. Viewers become slow with more.
const MARKERS_MAX: usize = 20_000;

/// The maximum size of `warps.json`.
const WARPS_BYTES_MAX: u64 = 16 << 20;

/// The maximum number of objects inside each other that are searched for positions.
const DEPTH_MAX: u32 = 8;

/// The maximum length of a marker's name in characters.
const NAME_CHARS_MAX: usize = 200;

/// What a marker shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkerKind {
    /// The spawn point of the world.
    Spawn,
    /// A respawn point of a player.
    Respawn,
    /// A marker of the game's map.
    Map,
    /// A warp.
    Warp,
    /// A player.
    Player,
    /// A container.
    Container,
    /// An entity.
    Entity,
}

impl fmt::Display for MarkerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spawn => "spawn",
            Self::Respawn => "respawn",
            Self::Map => "map",
            Self::Warp => "warp",
            Self::Player => "player",
            Self::Container => "container",
            Self::Entity => "entity",
        })
    }
}

/// A position with a name.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Marker {
    /// What it shows.
    pub kind: MarkerKind,
    /// Its name.
    pub name: String,
    /// The x coordinate, in blocks.
    pub x: f64,
    /// The y coordinate.
    pub y: f64,
    /// The z coordinate.
    pub z: f64,
}

/// Which markers are shown besides spawn points, respawn points, map markers and warps. These
/// reveal where players are and what they own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MarkerChoice {
    /// Players, where they were last.
    pub has_players: bool,
    /// Containers, with the number of their stacks.
    pub has_containers: bool,
    /// Entities, by name or role.
    pub has_entities: bool,
}

impl FromStr for MarkerChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut choice = Self::default();
        for word in text.split(',') {
            match word.trim() {
                "players" => choice.has_players = true,
                "containers" => choice.has_containers = true,
                "entities" => choice.has_entities = true,
                _ => return Err("not markers; use players, containers or entities".to_owned()),
            }
        }
        Ok(choice)
    }
}

/// Finds the markers of the world at a location, sorted by kind and name. Parts that cannot be read
/// are left out: a map is complete without them.
///
/// If the map shows only some chunks, pass them as `chunks`, sorted. Markers elsewhere are then
/// left out, so that the map does not reveal them.
pub fn find_markers(
    location: &Location,
    choice: MarkerChoice,
    chunks: Option<&[ChunkPos]>,
) -> Vec<Marker> {
    let mut markers = Markers { chunks, ..Markers::default() };
    if let Some(folder) = location.world_folder() {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        markers.world = name.unwrap_or_default();
        markers.add_spawn(&folder);
        markers.add_resources(&folder);
        markers.add_players(&folder, choice.has_players);
        markers.add_warps(&folder);
    }
    if choice.has_containers || choice.has_entities {
        markers.add_contents(location, choice);
    }
    let mut found = markers.found;
    let position = |marker: &Marker| [marker.x, marker.z, marker.y];
    found.sort_by(|a, b| {
        let by_name = a.kind.cmp(&b.kind).then_with(|| a.name.cmp(&b.name));
        by_name.then_with(|| position(a).partial_cmp(&position(b)).unwrap_or(Ordering::Equal))
    });
    found
}

#[derive(Default)]
struct Markers<'a> {
    found: Vec<Marker>,
    /// The name of the world. Objects that name another one are left out.
    world: String,
    /// The chunks whose markers are shown, sorted; `None` for all.
    chunks: Option<&'a [ChunkPos]>,
}

impl Markers<'_> {
    fn add(&mut self, kind: MarkerKind, name: &str, [x, y, z]: [f64; 3]) {
        let is_finite = [x, y, z].iter().all(|value| value.is_finite());
        if is_finite && self.is_shown(x, z) && self.found.len() < MARKERS_MAX {
            let name = name.chars().take(NAME_CHARS_MAX).collect();
            self.found.push(Marker { kind, name, x, y, z });
        }
    }

    fn is_shown(&self, x: f64, z: f64) -> bool {
        let chunk = || ColumnPos::from_f64(x, z).map(ColumnPos::chunk);
        self.chunks
            .is_none_or(|chunks| chunk().is_some_and(|chunk| chunks.binary_search(&chunk).is_ok()))
    }

    fn add_spawn(&mut self, folder: &Path) {
        let Ok(world) = WorldOptions::new().without_chunks().open(folder) else { return };
        let Ok(config) = world.config() else { return };
        let spawn = config.settings.spawn_provider.as_ref();
        if let Some(spawn) = spawn.and_then(SpawnProvider::spawn_point) {
            self.add(MarkerKind::Spawn, "Spawn", [spawn.x, spawn.y, spawn.z]);
        }
    }

    /// Adds the markers of the game's map.
    fn add_resources(&mut self, folder: &Path) {
        let resources = Resources::in_folder(&OsFileSystem, folder.join("resources"));
        for id in ["BlockMapMarkers", "SharedUserMapMarkers"] {
            if let Ok(loaded) = resources.load(id) {
                self.search(MarkerKind::Map, &loaded.document, None, 0);
            }
        }
    }

    /// Adds players and their respawn points in this world.
    fn add_players(&mut self, folder: &Path, has_players: bool) {
        // The world is at UNIVERSE/worlds/NAME.
        let Some(universe) = folder.ancestors().nth(2) else { return };
        let name = self.world.clone();
        let players = Players::of_universe(universe);
        for entry in players.list().unwrap_or_default() {
            let Ok(loaded) = players.load(entry.uuid) else { continue };
            let player = crate::players::PlayerInfo::of(entry.uuid, &loaded.document);
            let shown = player.name.clone().unwrap_or_else(|| player.uuid.clone());
            let data = ["Components", "Player", "PlayerData", "PerWorldData", &name];
            let data = inside(&loaded.document, &data);
            if let Some(points) = data.and_then(|data| data.get("RespawnPoints")) {
                let label = format!("Respawn point of {shown}");
                self.search_value(MarkerKind::Respawn, points, Some(&label), 0);
            }
            let is_here = player.world.as_deref() == Some(&name);
            if let (true, true, [Some(x), Some(y), Some(z)]) =
                (has_players, is_here, [player.x, player.y, player.z])
            {
                self.add(MarkerKind::Player, &shown, [x, y, z]);
            }
        }
    }

    /// Adds the warps of a universe. Their format is known only by its shape.
    fn add_warps(&mut self, folder: &Path) {
        let Some(universe) = folder.ancestors().nth(2) else { return };
        let path = universe.join("warps.json");
        let text = read_regular_text(&path, WARPS_BYTES_MAX).ok();
        let Some(document) = text.and_then(|text| Document::from_json(&text).ok()) else { return };
        self.search(MarkerKind::Warp, &document, None, 0);
    }

    /// Adds containers and entities. Chunks that cannot be read are left out; the map itself
    /// hatches them.
    fn add_contents(&mut self, location: &Location, choice: MarkerChoice) {
        let Ok(storage) = location.open() else { return };
        let chunks = self.chunks;
        let find = |at, document: hyworld_providers::Result<Option<Vec<u8>>>| {
            let document = document.ok().flatten().filter(|document| !document.is_empty())?;
            contents(at, &Chunk::decode(document).ok()?, choice, chunks).ok()
        };
        let positions: Positions<'_> = match chunks {
            Some(chunks) => Box::new(chunks.iter().copied().map(Ok)),
            None => storage.positions(),
        };
        // In order, so that the same ones are found if there are too many.
        let options = ScanOptions::new().ordered(true);
        // The scan is never cancelled.
        let _completion = scan_positions(&*storage, positions, &options, find, |step| {
            if let Scanned::Chunk(_, Some(found)) = step {
                let room = MARKERS_MAX.saturating_sub(self.found.len());
                self.found.extend(found.into_iter().take(room));
            }
        });
    }

    fn search_value(&mut self, kind: MarkerKind, value: &Value, name: Option<&str>, depth: u32) {
        match value {
            Value::Document(document) => self.search(kind, document, name, depth),
            Value::Array(values) => {
                for value in values {
                    self.search_value(kind, value, name, depth);
                }
            }
            _ => {}
        }
    }

    /// Adds the objects with coordinates inside of a document.
    fn search(&mut self, kind: MarkerKind, document: &Document, name: Option<&str>, depth: u32) {
        let world = document.get("World").and_then(Value::as_str);
        let is_elsewhere = world.is_some_and(|world| !world.eq_ignore_ascii_case(&self.world));
        if depth > DEPTH_MAX || self.found.len() >= MARKERS_MAX || is_elsewhere {
            return;
        }
        let own = ["Name", "Id", "DisplayName"].iter().find_map(|key| document.get(key)?.as_str());
        let name = name.or(own);
        let places = ["Transform", "RespawnPosition", "Position", "BlockPosition"];
        let nested = places.iter().find_map(|key| coordinates(document.get(key)?.as_document()?));
        if let Some(at) = coordinates(document).or(nested) {
            self.add(kind, name.unwrap_or("Marker"), at);
            return;
        }
        for (_, value) in document.fields() {
            self.search_value(kind, value, name.filter(|_| own.is_none()), depth + 1);
        }
    }
}

fn coordinates(document: &Document) -> Option<[f64; 3]> {
    let number = |key: &str| crate::players::number(document.get(key)?);
    Some([number("X")?, number("Y").unwrap_or(0.0), number("Z")?])
}

fn inside<'a>(document: &'a Document, path: &[&str]) -> Option<&'a Document> {
    path.iter().try_fold(document, |document, key| document.get(key)?.as_document())
}

/// Returns the containers and entities of a chunk.
fn contents(
    at: ChunkPos,
    chunk: &Chunk,
    choice: MarkerChoice,
    chunks: Option<&[ChunkPos]>,
) -> hyworld_chunk::Result<Vec<Marker>> {
    let mut markers = Markers { chunks, ..Markers::default() };
    if choice.has_containers {
        for container in chunk.containers()? {
            let ContainerOwner::Block { at: cell, .. } = container.owner else { continue };
            let Some(block) = at.block(cell) else { continue };
            let stacks = match container.items.iter().count() {
                1 => "1 stack".to_owned(),
                count => format!("{count} stacks"),
            };
            let name = format!("{}: {stacks}", chunk.block(cell)?.name());
            let position = [block.x, block.y, block.z].map(|axis| f64::from(axis) + 0.5);
            markers.add(MarkerKind::Container, &name, position);
        }
    }
    if choice.has_entities {
        let entities = chunk.entities()?.filter(|entity| entity.spawn_marker().is_none());
        for entity in entities {
            let Some(position) = entity.position() else { continue };
            let name = entity.display_name().or_else(|| entity.nameplate());
            let name = name.or_else(|| entity.role_name()).unwrap_or("Entity");
            markers.add(MarkerKind::Entity, name, position);
        }
    }
    Ok(markers.found)
}

#[cfg(test)]
mod tests {
    use hyworld_chunk::Holder;
    use hyworld_chunk::bson::Document;

    use super::*;

    #[test]
    fn spawn_markers_are_not_entities_on_the_map() {
        let mut chunk = Chunk::new();
        for component in [
            r#""NPC": {"RoleName": "Sheep"}"#,
            r#""SpawnMarkerComponent": {"SpawnMarker": "Sheep_Herd"}"#,
        ] {
            let position = r#""Transform": {"Position": {"X": 4.5, "Y": 65.0, "Z": 5.5}}"#;
            let json = format!("{{\"Components\": {{{position}, {component}}}}}");
            let document = Document::from_json(&json).unwrap().to_bytes();
            chunk.entities_mut().push(Holder::decode(document).unwrap()).unwrap();
        }
        let choice = MarkerChoice { has_entities: true, ..MarkerChoice::default() };
        let found = contents(ChunkPos::new(0, 0), &chunk, choice, None).unwrap();
        let names: Vec<_> = found.iter().map(|marker| marker.name.as_str()).collect();
        assert_eq!(names, ["Sheep"]);
    }
}
