//! Where containers stand in a holder, in every generation of the format.

use std::collections::HashSet;
use std::fmt;

use super::container::{CAPACITY_KEY, ITEMS_KEY, ItemContainer};
use super::field::{self, INT32};
use super::nested;
use crate::error::Result;
use crate::holder::Holder;
use hyworld_documents::{Kind, RawDocument};

/// What a container is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum ContainerRole {
    /// A chest, or another block that keeps things.
    Block,
    /// What a bench works on.
    Input,
    /// What a bench burns.
    Fuel,
    /// What a bench has made.
    Output,
    /// What one can take into the hand at once.
    Hotbar,
    /// The rest of what one carries.
    Storage,
    /// What one wears.
    Armor,
    /// What one holds in the other hand.
    Utility,
    /// More room to carry things.
    Backpack,
    /// Tools for building the world.
    Tools,
    /// A hotbar that a builder has put away, one of several.
    SavedHotbar,
    /// It has the shape of a container and stands where none is known: a mod, or a newer game.
    Other,
}

impl ContainerRole {
    /// Its name in reports.
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

/// The last two keys on the way to every container that is known.
const KNOWN: [(&str, &str, ContainerRole); 15] = [
    // Blocks from June 2026 on, and before.
    ("ItemContainerBlock", "ItemContainer", ContainerRole::Block),
    ("container", "ItemContainer", ContainerRole::Block),
    ("processingBench", "InputContainer", ContainerRole::Input),
    ("processingBench", "FuelContainer", ContainerRole::Fuel),
    ("processingBench", "OutputContainer", ContainerRole::Output),
    // What creatures carry from June 2026 on.
    ("HotbarInventory", "Inventory", ContainerRole::Hotbar),
    ("StorageInventory", "Inventory", ContainerRole::Storage),
    ("ArmorInventory", "Inventory", ContainerRole::Armor),
    ("UtilityInventory", "Inventory", ContainerRole::Utility),
    // What creatures and players carried before.
    ("Inventory", "HotBar", ContainerRole::Hotbar),
    ("Inventory", "Storage", ContainerRole::Storage),
    ("Inventory", "Armor", ContainerRole::Armor),
    ("Inventory", "Utility", ContainerRole::Utility),
    ("Inventory", "Backpack", ContainerRole::Backpack),
    ("Inventory", "Tool", ContainerRole::Tools),
];

/// The list that keeps the hotbars which a player has put away.
const SAVED_HOTBARS_KEY: &str = "SavedHotbars";

/// Where a container stands in a holder: in which component, and where in there.
///
/// Both generations of blocks and inventories are found, at any depth (a spawn marker keeps whole
/// creatures with what they carry), and so is everything else that has the shape of a container.
/// A file of a player is a holder like an entity.
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
/// for place in ContainerPath::find(&chest)? {
///     assert_eq!(place.to_string(), "container.ItemContainer");
///     assert_eq!(place.role(), ContainerRole::Block);
///     let mut items = place.read(&chest)?;
///     assert_eq!(items.get(2).map(ItemStack::quantity), Some(3));
///     items.set(0, ItemStack::new("Charcoal", 2))?;
///     place.write(&mut chest, &items)?;
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
    /// Finds the containers of a holder, in the order in which they are stored. What stands where
    /// a container is known to stand is listed as one even if it has not the shape of one: then
    /// [`read`](Self::read) says what is wrong with it.
    ///
    /// # Errors
    /// A component is malformed.
    pub fn find(holder: &Holder) -> Result<Vec<Self>> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for id in holder.ids().filter(|id| seen.insert(*id)) {
            let Some(document) = holder.raw(id) else { continue };
            // No deeper than the limit, so that walking it is safe.
            document.check().map_err(|malformed| crate::Error::from(malformed).inside(id))?;
            if has_shape_of_container(document) {
                found.push(Self { path: vec![id.to_owned()], role: ContainerRole::Other });
            }
            walk(document, &mut vec![id], &mut found)?;
        }
        Ok(found)
    }

    /// What the container is for.
    pub fn role(&self) -> ContainerRole {
        self.role
    }

    /// The component and then the keys that lead to the container.
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// Reads the container.
    ///
    /// # Errors
    /// It is not there, or it is none; what [`ItemContainer::decode`] reports. The holder keeps it
    /// as it is in any case.
    pub fn read(&self, holder: &Holder) -> Result<ItemContainer> {
        nested::read(holder, &self.path, ItemContainer::decode)
    }

    /// Writes the container over the one that is there. Everything beside it stays as it is.
    ///
    /// # Errors
    /// There is none, or a document on the way is malformed; then nothing is changed.
    pub fn write(&self, holder: &mut Holder, container: &ItemContainer) -> Result<()> {
        nested::write(holder, &self.path, &container.encode())
    }

    /// The slot that is in use, which stands beside the container; `None` if there is none.
    ///
    /// # Errors
    /// It is no number, or a document on the way is malformed.
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
        // No slot in use is -1.
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
    let mut seen = HashSet::new();
    for element in document.elements() {
        let element = element?;
        // Of fields with one key only the first can be asked for.
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
