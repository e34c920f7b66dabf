//! [`PlayerInfo`]: the contents of a player's file.

use std::path::PathBuf;

use hyworld_chunk::{ContainerPath, Holder};
use hyworld_documents::{Document, Value};
use hyworld_files::{FileSystem, shell_word};
use hyworld_world::{PlayerEntry, Players, Universe, Uuid};
use serde::Serialize;

use crate::change::{Change, ChangeOptions, ChangeReport};
use crate::error::{Error, ErrorKind, Result};

/// A player. Fields that are missing in the file are `None`. Serializes to the JSON of
/// `hyworld player`.
#[derive(Debug, Default, Serialize)]
pub struct PlayerInfo {
    /// The UUID.
    pub uuid: String,
    /// The name.
    pub name: Option<String>,
    /// The world the player was last in.
    pub world: Option<String>,
    /// The x coordinate in that world.
    pub x: Option<f64>,
    /// The y coordinate.
    pub y: Option<f64>,
    /// The z coordinate.
    pub z: Option<f64>,
    /// The game mode.
    pub game_mode: Option<String>,
    /// The health.
    pub health: Option<f64>,
    /// Whether only the backup of the file exists.
    pub only_backup: bool,
    /// The inventories and equipment.
    pub containers: Vec<InventoryInfo>,
    /// Errors of the parts that cannot be read.
    pub findings: Vec<String>,
}

/// One inventory of a player.
#[derive(Debug, Serialize)]
pub struct InventoryInfo {
    /// Its purpose, such as `hotbar`.
    pub role: &'static str,
    /// Its path in the file: the component and the keys.
    pub path: String,
    /// The number of slots.
    pub capacity: u32,
    /// The selected slot.
    pub active_slot: Option<u32>,
    /// The items, by slot.
    pub items: Vec<ItemInfo>,
}

/// A stack of items in a slot.
#[derive(Debug, Serialize)]
pub struct ItemInfo {
    /// The slot, from 0.
    pub slot: u32,
    /// The item id.
    pub id: String,
    /// The number of items.
    pub quantity: i32,
    /// The remaining durability.
    pub durability: f64,
    /// The durability when new; 0 for items that do not wear out.
    pub max_durability: f64,
}

impl PlayerInfo {
    /// Reads the file of a player.
    ///
    /// # Errors
    /// Returns an error if both the file and its backup are damaged. Errors of single parts are in
    /// `findings`.
    pub fn load(universe: &Universe, entry: PlayerEntry) -> Result<Self> {
        let document = universe.players().load(entry.uuid)?.document;
        let info = Self::of(entry.uuid, &document);
        Ok(Self { only_backup: entry.is_only_backup, ..info })
    }

    /// Extracts the fields from a player's document.
    pub fn of(uuid: Uuid, document: &Document) -> Self {
        let text = |path: &[&str]| at(document, path).and_then(Value::as_str).map(str::to_owned);
        let number = |path: &[&str]| at(document, path).and_then(number);
        let position = |axis| number(&["Components", "Transform", "Position", axis]);
        let mut info = Self {
            uuid: uuid.to_string(),
            name: text(&["Components", "DisplayName", "DisplayName", "RawText"])
                .or_else(|| text(&["Components", "Nameplate", "Text"])),
            world: text(&["Components", "Player", "PlayerData", "World"]),
            x: position("X"),
            y: position("Y"),
            z: position("Z"),
            game_mode: text(&["Components", "Player", "GameMode"]),
            health: number(&["Components", "EntityStats", "Stats", "Health", "Value"]),
            ..Self::default()
        };
        if let Err(error) = info.add_containers(document) {
            info.findings.push(error.to_string());
        }
        info
    }

    fn add_containers(&mut self, document: &Document) -> hyworld_chunk::Result<()> {
        let holder = Holder::decode(document.to_bytes())?;
        for path in ContainerPath::find(&holder)? {
            match inventory(&path, &holder) {
                Ok(inventory) => self.containers.push(inventory),
                Err(error) => self.findings.push(format!("{path}: {error}")),
            }
        }
        Ok(())
    }

    /// Returns the number of item stacks the player carries.
    pub fn stacks(&self) -> usize {
        self.containers.iter().map(|container| container.items.len()).sum()
    }
}

/// Finds a player by UUID, or by a name that only one player has.
///
/// # Errors
/// Returns an error if no player or several players have that name, or if the folder cannot be
/// listed.
pub fn find_player(universe: &Universe, wanted: &str) -> Result<PlayerEntry> {
    let players = universe.players().list()?;
    let found: Vec<_> = if let Ok(uuid) = wanted.parse::<Uuid>() {
        players.into_iter().filter(|player| player.uuid == uuid).collect()
    } else {
        let wanted = Some(wanted.to_lowercase());
        let name = |player| PlayerInfo::load(universe, player).ok().and_then(|info| info.name);
        let lower = |player: &PlayerEntry| name(*player).map(|name| name.to_lowercase());
        players.into_iter().filter(|player| lower(player) == wanted).collect()
    };
    let path = universe.path().display();
    match found.as_slice() {
        [player] => Ok(*player),
        [] => {
            let list = format!("hyworld player list {}", shell_word(universe.path()));
            let text = format!("{path}: no player {wanted}; see `{list}`");
            Err(Error::new(ErrorKind::NotFound, text))
        }
        several => {
            let uuids: Vec<_> = several.iter().map(|player| player.uuid.to_string()).collect();
            let text = format!(
                "{path}: several players are named {wanted}: {}; use the UUID",
                uuids.join(", ")
            );
            Err(Error::new(ErrorKind::BadLocation, text))
        }
    }
}

/// Returns the UUID in a player's document.
pub fn player_in(document: &Document) -> Option<Uuid> {
    let component = at(document, &["Components", "UUID", "UUID"]).and_then(Uuid::from_value);
    component.or_else(|| at(document, &["Components", "Player", "UUID"]).and_then(Uuid::from_value))
}

/// Replaces the player's UUID in all components that contain it.
pub fn set_player(document: &mut Document, uuid: Uuid) {
    for component in ["UUID", "Player"] {
        let found = document.get_mut("Components").and_then(as_document_mut);
        let found = found.and_then(|components| components.get_mut(component));
        if let Some(fields) =
            found.and_then(as_document_mut).filter(|own| own.get("UUID").is_some())
        {
            fields.set("UUID", uuid.to_value());
        }
    }
}

/// Replaces or adds the file of a player. Returns `None` if it has these contents already.
///
/// # Errors
/// Returns an error if another program uses a world of the universe, or if writing fails.
pub fn save_player(
    universe: &Universe,
    uuid: Uuid,
    document: &Document,
    options: &ChangeOptions,
) -> Result<Option<ChangeReport>> {
    let mut change = Change::of_universe(universe, "import", options)?;
    let is_written = players_in(universe, &change.files()).save(uuid, document)?;
    let report = change.commit()?;
    Ok(is_written.then_some(report))
}

/// Removes a player. The files are kept under names that the game does not read. Returns the file
/// with the player's document, and the change.
///
/// # Errors
/// Returns an error if another program uses a world of the universe, or if renaming fails.
pub fn remove_player(
    universe: &Universe,
    uuid: Uuid,
    options: &ChangeOptions,
) -> Result<(Option<PathBuf>, ChangeReport)> {
    let mut change = Change::of_universe(universe, "remove-player", options)?;
    let kept = players_in(universe, &change.files()).set_aside(uuid)?;
    Ok((kept, change.commit()?))
}

fn players_in<'a>(universe: &Universe, files: &'a dyn FileSystem) -> Players<'a> {
    Players::in_folder(files, universe.path().join("players"))
}

fn as_document_mut(value: &mut Value) -> Option<&mut Document> {
    match value {
        Value::Document(document) => Some(document),
        _ => None,
    }
}

fn inventory(path: &ContainerPath, holder: &Holder) -> hyworld_chunk::Result<InventoryInfo> {
    let container = path.read(holder)?;
    let items = container.iter().map(|(slot, stack)| ItemInfo {
        slot,
        id: stack.id().to_owned(),
        quantity: stack.quantity(),
        durability: stack.durability(),
        max_durability: stack.max_durability(),
    });
    Ok(InventoryInfo {
        role: path.role().name(),
        path: path.to_string(),
        capacity: container.capacity(),
        active_slot: path.active_slot(holder)?,
        items: items.collect(),
    })
}

fn at<'a>(document: &'a Document, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let value = document.get(first)?;
    if rest.is_empty() { Some(value) } else { at(value.as_document()?, rest) }
}

pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Double(number) => Some(*number),
        Value::Int32(number) => Some((*number).into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANNA: &str = "00000000-0000-0000-0000-00000000000a";

    #[test]
    fn old_and_new_inventories_are_listed_next_to_a_damaged_one() {
        let json = r#"{"Components": {
            "Nameplate": {"Text": "Anna"},
            "Transform": {"Position": {"X": 1, "Y": 2.5, "Z": -3.0}},
            "Player": {"Inventory": {"ActiveHotbarSlot": 4,
                "HotBar": {"Id": "Simple", "Capacity": 9, "Items": {"4": {"Id": "Stick",
                    "Quantity": 3}}},
                "Armor": {"Capacity": "four", "Items": {}}}},
            "StorageInventory": {"Inventory": {"Capacity": 36, "Items": {"35": {"Id": "Rock",
                "Quantity": 2, "Durability": 1.5, "MaxDurability": 3.0}}}}
        }}"#;
        let document = Document::from_json(json).unwrap();
        let info = PlayerInfo::of(ANNA.parse().unwrap(), &document);
        assert_eq!(info.name.as_deref(), Some("Anna"));
        assert_eq!((info.x, info.y, info.z), (Some(1.0), Some(2.5), Some(-3.0)));
        let roles: Vec<_> = info.containers.iter().map(|found| found.role).collect();
        assert_eq!((roles, info.stacks()), (vec!["hotbar", "storage"], 2));
        assert_eq!(info.containers.first().unwrap().active_slot, Some(4));
        assert!(info.findings.first().unwrap().starts_with("Player.Inventory.Armor: "));
    }

    #[test]
    fn the_uuid_of_a_player_document_is_replaced() {
        let json = r#"{"Components": {"UUID": {"UUID": {"$binary": "AAECAwQFBgcICQoLDA0ODw==",
            "$type": "04"}}, "Player": {"GameMode": "Creative"}}}"#;
        let mut document = Document::from_json(json).unwrap();
        let before = player_in(&document).unwrap();
        assert_eq!(before.to_string(), "00010203-0405-0607-0809-0a0b0c0d0e0f");
        let anna = ANNA.parse().unwrap();
        set_player(&mut document, anna);
        assert_eq!(player_in(&document), Some(anna));
        set_player(&mut document, before);
        assert_eq!(document, Document::from_json(json).unwrap(), "nothing was added");
        assert_eq!(player_in(&Document::new()), None);
    }
}
