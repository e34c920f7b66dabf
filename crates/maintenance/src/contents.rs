//! Names, items and texts in the entities and block entities of a chunk, for tests, searches and
//! counts.

use std::borrow::Cow;

use hyworld_chunk::bson::{Element, Kind, RawDocument};
use hyworld_chunk::{Chunk, ContainerPath, ContainerRole, Entity, Holder, ItemStack, Result};
use hyworld_coords::ChunkBlock;

/// The maximum depth of documents that are searched for texts. Real ones have up to ten levels.
const DEPTH_MAX: u32 = 32;

/// Parts of keys whose values are texts for players, in lower case.
const TEXT_KEYS: [&str; 10] = [
    "text",
    "name",
    "label",
    "title",
    "message",
    "line",
    "description",
    "author",
    "page",
    "caption",
];

/// Where something in a chunk is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Location<'a> {
    Block(ChunkBlock, &'a Holder),
    Entity(Entity<'a>),
}

impl<'a> Location<'a> {
    pub(crate) fn holder(self) -> &'a Holder {
        match self {
            Self::Block(_, holder) => holder,
            Self::Entity(entity) => entity.0,
        }
    }
}

/// A stack of items.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FoundItem<'a> {
    pub(crate) id: String,
    pub(crate) count: i64,
    pub(crate) location: Location<'a>,
    /// The purpose of its container; `None` for an item on the ground.
    pub(crate) role: Option<ContainerRole>,
}

/// The name of blocks and entities that are not known.
const UNKNOWN: &str = "Unknown";

/// Returns the name of a block, or `Unknown` if a newer game wrote it.
pub(crate) fn block_name(chunk: &Chunk, at: ChunkBlock) -> Result<String> {
    match chunk.block(at) {
        Err(error) if error.newer_component().is_some() => Ok(UNKNOWN.to_owned()),
        found => found.map(|block| block.name().to_owned()),
    }
}

/// Returns the items in containers of blocks and entities, and on the ground.
pub(crate) fn items(chunk: &Chunk) -> Result<Vec<FoundItem<'_>>> {
    let blocks = chunk.block_entities()?.map(|(at, holder)| Location::Block(at, holder));
    items_in(blocks.chain(chunk.entities()?.map(Location::Entity)))
}

/// Returns the items of block entities and entities.
pub(crate) fn items_in<'a>(
    holders: impl Iterator<Item = Location<'a>>,
) -> Result<Vec<FoundItem<'a>>> {
    let mut found = Vec::new();
    for location in holders {
        let holder = location.holder();
        for path in ContainerPath::find(holder)? {
            for (_, stack) in path.read(holder)?.iter() {
                found.push(item(stack, location, Some(path.role())));
            }
        }
        if let Location::Entity(entity) = location
            && let Some(stack) = ItemStack::of_dropped(entity.0)?
        {
            found.push(item(&stack, location, None));
        }
    }
    Ok(found)
}

fn item<'a>(
    stack: &ItemStack,
    location: Location<'a>,
    role: Option<ContainerRole>,
) -> FoundItem<'a> {
    FoundItem { id: stack.id().to_owned(), count: stack.quantity().into(), location, role }
}

/// Components that say nothing about what an entity is.
const COMMON_COMPONENTS: [&str; 11] = [
    "UUID",
    "Transform",
    "HeadRotation",
    "Velocity",
    "DisplayName",
    "Nameplate",
    "EntityStats",
    "EntityScale",
    "EffectController",
    "Interactions",
    "Model",
];

/// Returns the id of an entity for reports: its role, its item, its model, its block, its spawn
/// marker, or its first component that is not common to all kinds of entities.
pub(crate) fn entity_id(entity: Entity<'_>) -> Cow<'_, str> {
    let dropped = || ItemStack::of_dropped(entity.0).ok().flatten();
    if let Some(role) = entity.role_name() {
        return role.into();
    }
    if let Some(stack) = dropped() {
        return stack.id().to_owned().into();
    }
    let block = || text(entity.0, "BlockEntity", "BlockTypeKey");
    let marker = || text(entity.0, "SpawnMarkerComponent", "SpawnMarker");
    let other = entity.model().or_else(block).or_else(marker);
    let telling = || entity.0.ids().find(|id| !COMMON_COMPONENTS.contains(id));
    other.or_else(telling).unwrap_or(UNKNOWN).into()
}

/// Returns all names of an entity: its id, role, model, names and UUID.
pub(crate) fn entity_names(entity: Entity<'_>) -> Vec<Cow<'_, str>> {
    let mut names = vec![entity_id(entity)];
    let others = [
        entity.role_name(),
        entity.model(),
        entity.display_name(),
        entity.nameplate(),
        text(entity.0, "BlockEntity", "BlockTypeKey"),
        text(entity.0, "SpawnMarkerComponent", "SpawnMarker"),
    ];
    names.extend(others.into_iter().flatten().map(Cow::Borrowed));
    names.extend(entity.uuid().map(|uuid| uuid_text(uuid).into()));
    names
}

/// Returns a UUID in its usual form.
pub(crate) fn uuid_text(bytes: [u8; 16]) -> String {
    let digits = format!("{:032x}", u128::from_be_bytes(bytes));
    let part = |from, to| digits.get(from..to).unwrap_or_default();
    let parts = [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)];
    parts.join("-")
}

/// Returns the players that placed a block, by UUID. The world generator has UUIDs of version 3;
/// those of players have other versions.
pub(crate) fn placed_by(holder: &Holder) -> impl Iterator<Item = [u8; 16]> {
    let components = ["PlacedByInteraction", "container"].into_iter();
    let found = components.filter_map(|id| holder.raw(id)?.get("WhoPlacedUuid").ok().flatten());
    let uuids = found.filter_map(|who| <[u8; 16]>::try_from(who.as_binary()?.1).ok());
    uuids.filter(|[_, _, _, _, _, _, version, ..]| version >> 4 != 3)
}

/// Returns a text field of a component.
fn text<'a>(holder: &'a Holder, component: &str, key: &str) -> Option<&'a str> {
    holder.raw(component)?.get(key).ok().flatten()?.as_str()
}

/// Returns the texts for players in the components of a holder: values whose key says so, such as
/// `Text` and `DisplayName`, at any depth. A spawn marker shows what it spawns as its name, so it
/// has only the texts of the creatures that it stores.
pub(crate) fn texts(holder: &Holder) -> Vec<&str> {
    let mut found = Vec::new();
    if let Some(marker) = Entity(holder).spawn_marker() {
        let flock = marker.get("PersistedFlock").ok().flatten();
        if let Some(flock) = flock.and_then(|flock| flock.as_document()) {
            add_texts(flock, false, DEPTH_MAX, &mut found);
        }
        return found;
    }
    for id in holder.ids() {
        if let Some(document) = holder.raw(id) {
            add_texts(document, is_text_key(id), DEPTH_MAX, &mut found);
        }
    }
    found
}

fn add_texts<'a>(document: RawDocument<'a>, is_inside: bool, depth: u32, found: &mut Vec<&'a str>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    // A malformed part ends the search of its document.
    let elements = document.elements().map_while(std::result::Result::ok);
    for element in elements {
        let is_text = is_text_key(element.key()) || is_inside && is_number(&element);
        match element.kind() {
            Kind::STRING if is_text => found.extend(element.as_str()),
            Kind::DOCUMENT | Kind::ARRAY => {
                if let Some(nested) = element.as_document() {
                    add_texts(nested, is_text, depth, found);
                }
            }
            _ => {}
        }
    }
}

/// Returns whether the key is the index of an array.
fn is_number(element: &Element<'_>) -> bool {
    element.key().bytes().all(|byte| byte.is_ascii_digit())
}

fn is_text_key(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    // Names of roles and assets are ids.
    !lower.ends_with("rolename") && TEXT_KEYS.iter().any(|part| lower.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_chunk::bson::Document;

    fn holder(json: &str) -> Holder {
        Holder::decode(Document::from_json(json).unwrap().to_bytes()).unwrap()
    }

    #[test]
    fn texts_are_found_at_any_depth() {
        let sign = holder(
            r#"{"Components": {"Sign": {"Pages": [{"Lines": ["Welcome", "to town"], "Font": "Big"}],
                "Id": "Oak", "DisplayName": {"RawText": "My sign", "Bold": null}},
                "NPC": {"RoleName": "Sheep"}}}"#,
        );
        assert_eq!(texts(&sign), ["Welcome", "to town", "My sign"]);
    }

    #[test]
    fn spawn_markers_have_only_the_texts_of_stored_creatures() {
        let marker = holder(
            r#"{"Components": {"Nameplate": {"Text": "Sheep"}, "Transform": {},
                "DisplayName": {"DisplayName": {"RawText": "Sheep"}},
                "SpawnMarkerComponent": {"SpawnMarker": "Sheep", "GroupName": "Flock",
                    "PersistedFlock": {"Members": [
                        {"Components": {"Nameplate": {"Text": "Dolly"}}}]}}}}"#,
        );
        assert_eq!(texts(&marker), ["Dolly"]);
    }

    #[test]
    fn entities_without_a_role_are_not_named_after_a_common_component() {
        for (components, id) in [
            (r#""Transform": {}, "UUID": {}, "TriggerVolume": {}"#, "TriggerVolume"),
            (r#""Velocity": {}, "Transform": {}, "HeadRotation": {}"#, "Unknown"),
        ] {
            let entity = holder(&format!(r#"{{"Components": {{{components}}}}}"#));
            assert_eq!(entity_id(Entity(&entity)), id);
        }
    }

    #[test]
    fn entities_have_an_id_and_other_names() {
        let uuid = r#""UUID": {"UUID": {"$binary": "AAECAwQFBgcICQoLDA0ODw==", "$type": "04"}}"#;
        let sheep = holder(&format!(
            r#"{{"Components": {{"NPC": {{"RoleName": "Sheep"}}, "Nameplate": {{"Text": "Dolly"}},
                "Model": {{"Model": {{"Id": "Sheep_White"}}}}, {uuid}}}}}"#
        ));
        let names = entity_names(Entity(&sheep));
        let expected =
            ["Sheep", "Sheep", "Sheep_White", "Dolly", "00010203-0405-0607-0809-0a0b0c0d0e0f"];
        assert_eq!(names, expected);
        let item = r#"{"Components": {"Item": {"Item": {"Id": "Stick", "Quantity": 3}}}}"#;
        assert_eq!(entity_id(Entity(&holder(item))), "Stick");
        assert_eq!(entity_id(Entity(&Holder::new())), "Unknown");
    }

    #[test]
    fn the_generator_is_not_a_player() {
        let placed = |version: &str| {
            let bytes = format!("AAAAAAAA{version}AAAAAAAAAAAA==");
            let who = format!(r#"{{"WhoPlacedUuid": {{"$binary": "{bytes}", "$type": "04"}}}}"#);
            let block = holder(&format!(r#"{{"Components": {{"PlacedByInteraction": {who}}}}}"#));
            placed_by(&block).count()
        };
        // The seventh byte is 0x3f or 0x4f.
        assert_eq!((placed("Pw"), placed("Tw")), (0, 1));
        let null = r#"{"Components": {"container": {"WhoPlacedUuid": null}}}"#;
        assert_eq!(placed_by(&holder(null)).count(), 0);
    }
}
