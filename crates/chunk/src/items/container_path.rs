//! [`ContainerPath`]: the location of a container in a holder, in every generation of the format.

use std::fmt;

use super::container::{CAPACITY_KEY, ITEMS_KEY, ItemContainer};
use super::field::{self, INT32};
use super::nested;
use super::seen_keys::SeenKeys;
use crate::error::Result;
use crate::holder::Holder;
use hyworld_documents::{Kind, RawDocument};

/// The purpose of a container.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum ContainerRole {
    /// A chest, or another block that stores items.
    Block,
    /// The items that a bench processes.
    Input,
    /// The fuel of a bench.
    Fuel,
    /// The products of a bench.
    Output,
    /// The items that can be held in the hand.
    Hotbar,
    /// The main storage of an inventory.
    Storage,
    /// Worn armor.
    Armor,
    /// The items that can be held in the off hand.
    Utility,
    /// Additional storage of an inventory.
    Backpack,
    /// Tools for world building.
    Tools,
    /// One of the saved hotbars of a builder.
    SavedHotbar,
    /// A document with the shape of a container at an unknown path, from a mod or a newer game.
    Other,
}

impl ContainerRole {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "container",
            Self::Input => "input",
            Self::Fuel => "fuel",
            Self::Output => "output",
            Self::Hotbar => "hotbar",
            Self::Storage => "storage",
            Self::Armor => "armor",
            Self::Utility => "utility",
            Self::Backpack => "backpack",
            Self::Tools => "tools",
            Self::SavedHotbar => "saved hotbar",
            Self::Other => "other",
        }
    }
}

/// The last two keys of the path to every known container.
const KNOWN: [(&str, &str, ContainerRole); 15] = [
    // Blocks: first the path since June 2026, then those before.
    ("ItemContainerBlock", "ItemContainer", ContainerRole::Block),
    ("container", "ItemContainer", ContainerRole::Block),
    ("processingBench", "InputContainer", ContainerRole::Input),
    ("processingBench", "FuelContainer", ContainerRole::Fuel),
    ("processingBench", "OutputContainer", ContainerRole::Output),
    // Inventories of creatures since June 2026.
    ("HotbarInventory", "Inventory", ContainerRole::Hotbar),
    ("StorageInventory", "Inventory", ContainerRole::Storage),
    ("ArmorInventory", "Inventory", ContainerRole::Armor),
    ("UtilityInventory", "Inventory", ContainerRole::Utility),
    // Inventories of creatures and players before June 2026.
    ("Inventory", "HotBar", ContainerRole::Hotbar),
    ("Inventory", "Storage", ContainerRole::Storage),
    ("Inventory", "Armor", ContainerRole::Armor),
    ("Inventory", "Utility", ContainerRole::Utility),
    ("Inventory", "Backpack", ContainerRole::Backpack),
    ("Inventory", "Tool", ContainerRole::Tools),
];

/// The list of a player's saved hotbars.
const SAVED_HOTBARS_KEY: &str = "SavedHotbars";

/// The path of a container in a holder: the component, and the keys inside it.
///
/// Finds both generations of blocks and inventories at any depth (a spawn marker contains whole
/// creatures with their inventories), and every other document with the shape of a container. The
/// file of a player is a holder, like an entity.
///
/// ```
/// use hyworld_chunk::bson::Document;
/// use hyworld_chunk::{ContainerPath, ContainerRole, Holder, ItemStack};
///
/// let json = r#"{ "Components": { "container": {
///     "AllowViewing": true,
///     "ItemContainer": { "Capacity": 18, "Items": { "2": { "Id": "Stick", "Quantity": 3 } } }
/// } } }"#;
/// let mut chest = Holder::decode(Document::from_json(json)?.to_bytes())?;
/// for path in ContainerPath::find(&chest)? {
///     assert_eq!(path.to_string(), "container.ItemContainer");
///     assert_eq!(path.role(), ContainerRole::Block);
///     let mut items = path.read(&chest)?;
///     assert_eq!(items.get(2).map(ItemStack::quantity), Some(3));
///     items.set(0, ItemStack::new("Charcoal", 2))?;
///     path.write(&mut chest, &items)?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ContainerPath {
    /// The component, then the keys to the container.
    path: Vec<String>,
    role: ContainerRole,
}

impl ContainerPath {
    /// Finds the containers of a holder, in stored order. A value at a known container path is
    /// listed even if it is not a valid container: then [`read`](Self::read) returns the reason.
    ///
    /// # Errors
    /// Returns an error if a component is malformed.
    pub fn find(holder: &Holder) -> Result<Vec<Self>> {
        let mut found = Vec::new();
        let mut seen = SeenKeys::default();
        for id in holder.ids().filter(|id| seen.insert(id)) {
            let Some(document) = holder.raw(id) else { continue };
            // Limits the depth, so that the recursive walk is safe.
            document.check().map_err(|malformed| crate::Error::from(malformed).inside(id))?;
            if has_shape_of_container(document) {
                found.push(Self { path: vec![id.to_owned()], role: ContainerRole::Other });
            }
            walk(document, &mut vec![id], &mut found)?;
        }
        Ok(found)
    }

    /// Returns the purpose of the container.
    pub fn role(&self) -> ContainerRole {
        self.role
    }

    /// Returns the component and then the keys that lead to the container.
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// Reads the container.
    ///
    /// # Errors
    /// Returns an error if the container is missing, or if [`ItemContainer::decode`] fails. The
    /// holder keeps its bytes in any case.
    pub fn read(&self, holder: &Holder) -> Result<ItemContainer> {
        nested::read(holder, &self.path, ItemContainer::decode)
    }

    /// Replaces the container in the holder. Everything else stays as it is.
    ///
    /// # Errors
    /// Returns an error and changes nothing if the path is missing or malformed.
    pub fn write(&self, holder: &mut Holder, container: &ItemContainer) -> Result<()> {
        nested::write(holder, &self.path, &container.encode())
    }

    /// Returns the active slot, which is stored beside the container; `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if it is not a number, or a document on the path is malformed.
    pub fn active_slot(&self, holder: &Holder) -> Result<Option<u32>> {
        let Some((last, parents)) = self.path.split_last() else { return Ok(None) };
        let key = match (last.as_str(), self.role) {
            (_, ContainerRole::Other) => return Ok(None),
            ("Inventory", _) => "ActiveSlot",
            (_, ContainerRole::Hotbar) => "ActiveHotbarSlot",
            (_, ContainerRole::Utility) => "ActiveUtilitySlot",
            (_, ContainerRole::Tools) => "ActiveToolsSlot",
            _ => return Ok(None),
        };
        // -1 means that no slot is active.
        let slot =
            nested::read(holder, parents, |inventory| field::optional(inventory, key, &INT32))?;
        Ok(slot.and_then(|slot| u32::try_from(slot).ok()))
    }
}

impl fmt::Display for ContainerPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path.join("."))
    }
}

/// Finds the containers in the document at `path`.
fn walk<'a>(
    document: RawDocument<'a>,
    path: &mut Vec<&'a str>,
    found: &mut Vec<ContainerPath>,
) -> Result<()> {
    let mut seen = SeenKeys::default();
    for element in document.elements() {
        let element = element?;
        // Only the first of duplicate fields can be read by key.
        if !seen.insert(element.key()) {
            continue;
        }
        let parent = path.last().copied().unwrap_or_default();
        path.push(element.key());
        let inner = element.as_document();
        let known = known_role(parent, element.key()).filter(|_| element.kind() != Kind::NULL);
        let has_shape =
            element.kind() == Kind::DOCUMENT && inner.is_some_and(has_shape_of_container);
        if let Some(role) = known.or(has_shape.then_some(ContainerRole::Other)) {
            let path = path.iter().map(|key| (*key).to_owned()).collect();
            found.push(ContainerPath { path, role });
        }
        if let Some(inner) = inner {
            walk(inner, path, found)?;
        }
        path.pop();
    }
    Ok(())
}

fn known_role(parent: &str, key: &str) -> Option<ContainerRole> {
    if parent == SAVED_HOTBARS_KEY {
        return Some(ContainerRole::SavedHotbar);
    }
    let is_known = |known: &&(&str, &str, _)| known.0 == parent && known.1 == key;
    KNOWN.iter().find(is_known).map(|(_, _, role)| *role)
}

fn has_shape_of_container(document: RawDocument<'_>) -> bool {
    let has = |key| document.get(key).is_ok_and(|field| field.is_some());
    has(CAPACITY_KEY) && has(ITEMS_KEY)
}
