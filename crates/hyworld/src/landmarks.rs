//! [`Landmarks`]: positions that a world stores outside of its chunks: spawn, players, markers.

use std::path::{Path, PathBuf};

use hyworld_documents::{Document, Value};
use hyworld_world::{OsFileSystem, Players, Resources, SpawnProvider, Uuid, WorldOptions};

use crate::error::Result;

/// The maximum number of players whose files are read.
const PLAYERS_MAX: usize = 100_000;

/// A position with a name.
#[derive(Clone, PartialEq, Debug)]
pub struct NamedPosition {
    /// The name of the player or marker. Empty if it has none.
    pub name: String,
    /// The UUID of the player.
    pub player: Option<Uuid>,
    /// The x coordinate, in blocks.
    pub x: f64,
    /// The z coordinate, in blocks.
    pub z: f64,
}

/// Positions that a world stores outside of its chunks.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Landmarks {
    /// The spawn point; `None` if the generator chooses it.
    pub spawn: Option<(f64, f64)>,
    /// The last positions of players in this world.
    pub players: Vec<NamedPosition>,
    /// The respawn points of players in this world.
    pub respawn: Vec<NamedPosition>,
    /// The markers on the map.
    pub markers: Vec<NamedPosition>,
    /// The positions at which creatures do not spawn.
    pub spawn_suppressions: Vec<NamedPosition>,
    /// Files that could not be read.
    pub problems: Vec<String>,
}

impl Landmarks {
    /// Reads the landmarks of a world. Files that cannot be read are listed in `problems`.
    ///
    /// # Errors
    /// Returns an error if the folder of the players cannot be listed.
    pub fn load(world: &Path) -> Result<Self> {
        let mut found = Self::default();
        match WorldOptions::new().without_chunks().open(world) {
            Ok(opened) => {
                found.add_resources(opened.resources());
                match opened.config() {
                    Ok(config) => {
                        let spawn = config.settings.spawn_provider.as_ref();
                        let point = spawn.and_then(SpawnProvider::spawn_point);
                        found.spawn = point.map(|point| (point.x, point.z));
                    }
                    Err(problem) => found.problems.push(problem.to_string()),
                }
            }
            Err(error) => {
                found.problems.push(error.to_string());
                let folder = world.join("resources");
                found.add_resources(&Resources::in_folder(&OsFileSystem, folder));
            }
        }
        if let Some(universe) = universe_of(world) {
            let name = world.file_name().map(|name| name.to_string_lossy().into_owned());
            found.add_players(&Players::of_universe(&universe), &name.unwrap_or_default())?;
        }
        Ok(found)
    }

    fn add_resources(&mut self, resources: &Resources<'_>) {
        let load = |id: &str| resources.load(id).map(|loaded| loaded.document).unwrap_or_default();
        let blocks = load("BlockMapMarkers");
        let shared = load("SharedUserMapMarkers");
        let suppressed = load("SpawnSuppressionController");
        let of = |document: &Document, key: &str| match document.get(key) {
            Some(Value::Document(by_id)) => {
                by_id.fields().filter_map(|(_, at)| named(at)).collect()
            }
            Some(Value::Array(list)) => list.iter().filter_map(named).collect(),
            _ => Vec::new(),
        };
        self.markers.extend(of(&blocks, "Markers"));
        self.markers.extend(of(&shared, "UserMarkers"));
        self.spawn_suppressions.extend(of(&suppressed, "SpawnSuppressorMap"));
    }

    fn add_players(&mut self, players: &Players<'_>, world: &str) -> Result<()> {
        for entry in players.list()?.into_iter().take(PLAYERS_MAX) {
            match players.load(entry.uuid) {
                Ok(loaded) => self.add_player(entry.uuid, &loaded.document, world),
                Err(error) => self.problems.push(error.to_string()),
            }
        }
        Ok(())
    }

    fn add_player(&mut self, uuid: Uuid, document: &Document, world: &str) {
        let text = |path: &[&str]| at(document, path).and_then(Value::as_str);
        let name = text(&["Components", "DisplayName", "DisplayName", "RawText"])
            .or_else(|| text(&["Components", "Nameplate", "Text"]));
        let name = name.unwrap_or_default().to_owned();
        let of_player = |(x, z)| NamedPosition { name: name.clone(), player: Some(uuid), x, z };
        let data = ["Components", "Player", "PlayerData"];
        let is_here = text(&[&data[..], &["World"]].concat()) == Some(world);
        let now = at(document, &["Components", "Transform", "Position"]).and_then(position);
        self.players.extend(now.filter(|_| is_here).map(of_player));
        let here = [&data[..], &["PerWorldData", world]].concat();
        let last = at(document, &[&here[..], &["LastPosition"]].concat()).and_then(position);
        self.players.extend(last.filter(|last| !is_here || now != Some(*last)).map(of_player));
        if let Some(Value::Array(points)) = at(document, &[&here[..], &["RespawnPoints"]].concat())
        {
            for point in points.iter().filter_map(Value::as_document) {
                let keys = ["RespawnPosition", "BlockPosition"];
                let positions = keys.iter().filter_map(|key| point.get(key).and_then(position));
                self.respawn.extend(positions.map(of_player));
            }
        }
    }
}

/// Returns the universe of a world.
fn universe_of(world: &Path) -> Option<PathBuf> {
    let worlds = world.parent().filter(|worlds| worlds.ends_with("worlds"))?;
    worlds.parent().map(Path::to_owned)
}

/// Reads a marker: its position, as an object or as two fields, and its name.
fn named(value: &Value) -> Option<NamedPosition> {
    let document = value.as_document()?;
    let (x, z) = document.get("Position").and_then(position).or_else(|| position(value))?;
    let name = document.get("Name").and_then(Value::as_str).unwrap_or_default();
    Some(NamedPosition { name: name.to_owned(), player: None, x, z })
}

/// Reads the horizontal coordinates of a position.
fn position(value: &Value) -> Option<(f64, f64)> {
    let document = value.as_document()?;
    Some((number(document.get("X")?)?, number(document.get("Z")?)?))
}

/// Returns a number of any type.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Double(number) => Some(*number).filter(|number| number.is_finite()),
        Value::Int32(number) => Some((*number).into()),
        Value::Int64(number) => i32::try_from(*number).ok().map(f64::from),
        _ => None,
    }
}

fn at<'a>(document: &'a Document, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let value = document.get(first)?;
    if rest.is_empty() { Some(value) } else { at(value.as_document()?, rest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_players_are_those_in_this_world() {
        let json = r#"{"Components": {
            "Nameplate": {"Text": "Anna"},
            "Transform": {"Position": {"X": 1, "Y": 2, "Z": 3}},
            "Player": {"PlayerData": {"World": "one", "PerWorldData": {
                "one": {"LastPosition": {"X": 1.0, "Z": 3.0}, "RespawnPoints": [
                    {"BlockPosition": {"X": 7, "Y": 9, "Z": 8}, "Name": "Home"}]},
                "two": {"LastPosition": {"X": -5.5, "Z": 6}}}}}
        }}"#;
        let document = Document::from_json(json).unwrap();
        let uuid: Uuid = "00000000-0000-0000-0000-00000000000a".parse().unwrap();
        let of = |world| {
            let mut found = Landmarks::default();
            found.add_player(uuid, &document, world);
            let positions = |list: &[NamedPosition]| -> Vec<_> {
                list.iter().map(|at| (at.name.clone(), at.x, at.z)).collect()
            };
            (positions(&found.players), positions(&found.respawn))
        };
        let anna = "Anna".to_owned();
        let (players, respawn) = of("one");
        assert_eq!(players, [(anna.clone(), 1.0, 3.0)]);
        assert_eq!(respawn, [(anna.clone(), 7.0, 8.0)]);
        assert_eq!(of("two"), (vec![(anna, -5.5, 6.0)], vec![]));
        assert_eq!(of("three"), (vec![], vec![]));
    }

    #[test]
    fn markers_have_positions_in_two_forms() {
        let json = r#"{"a": {"Position": {"X": -852, "Z": 36}, "Name": "Temple"},
            "b": {"X": 1.5, "Z": 2}, "c": {"Name": "nowhere"}, "d": 5}"#;
        let document = Document::from_json(json).unwrap();
        let found: Vec<_> = document.fields().filter_map(|(_, value)| named(value)).collect();
        let found: Vec<_> = found.iter().map(|at| (at.name.as_str(), at.x, at.z)).collect();
        assert_eq!(found, [("Temple", -852.0, 36.0), ("", 1.5, 2.0)]);
    }
}
