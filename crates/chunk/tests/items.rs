//! Finds, reads, changes and writes item containers of both generations.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use hyworld_chunk::bson::{Document, RawDocument};
use hyworld_chunk::{ContainerPath, ContainerRole, Error, Holder, ItemContainer, ItemStack};

fn document(json: &str) -> Document {
    Document::from_json(json).unwrap()
}

/// Creates a holder with these components.
fn holder(components: &str) -> Holder {
    let json = format!("{{ \"Components\": {{ {components} }} }}");
    Holder::decode(document(&json).to_bytes()).unwrap()
}

fn component(holder: &Holder, id: &str) -> Document {
    Document::from_raw(holder.raw(id).unwrap()).unwrap()
}

const OLD_CHEST: &str = r#""container": {
    "Position": { "X": 29, "Y": 119, "Z": 22 }, "Custom": false, "AllowViewing": true,
    "ItemContainer": { "Capacity": 18, "Later": null, "Items": {
        "15": { "Id": "Charcoal", "Quantity": 2, "Durability": 0.0, "MaxDurability": 0.0,
                "OverrideDroppedItemAnimation": false },
        "2": { "Id": "Axe", "Quantity": 1, "Odd": [1, 2], "Durability": 79.5,
               "MaxDurability": 80.0, "OverrideDroppedItemAnimation": false,
               "Metadata": { "Name": "Ada's" } } } },
    "Droplist": "Loot" }"#;

const NEW_CHEST: &str = r#""ItemContainerBlock": {
    "ItemContainer": { "Capacity": 18, "Items": { "0": { "Id": "Staff", "Quantity": 1 } } },
    "Capacity": 18 }"#;

const BENCH: &str = r#""processingBench": { "TierLevel": 1, "UpgradeItems": [],
    "InputContainer": { "Id": "Simple", "Capacity": 1, "Items": {} },
    "FuelContainer": { "Id": "Simple", "Capacity": 1, "Items": { "0": { "Id": "Wood",
        "Quantity": 64 } } },
    "OutputContainer": { "Id": "Simple", "Capacity": 2, "Items": {} }, "Progress": 0.0 }"#;

const OLD_INVENTORY: &str = r#"{ "Version": 4, "Storage": { "Id": "Empty" },
    "Armor": { "Id": "Simple", "Capacity": 4, "Items": {} },
    "HotBar": { "Id": "Simple", "Capacity": 3, "Items": { "0": { "Id": "Club", "Quantity": 1 } } },
    "Utility": { "Id": "Simple", "Capacity": 2, "Items": { "1": { "Id": "Torch",
        "Quantity": 1 } } }, "Backpack": { "Id": "Empty" }, "ActiveHotbarSlot": 0,
    "Tool": { "Id": "Empty" }, "ActiveToolsSlot": -1, "ActiveUtilitySlot": 1,
    "SortType": "Name" }"#;

const NEW_INVENTORY: &str = r#""NPC": { "Inventory": { "Version": 5, "ActiveHotbarSlot": 0 } },
    "HotbarInventory": { "Inventory": { "Id": "Simple", "Capacity": 3, "Items": { "2": {
        "Id": "Club", "Quantity": 1 } } }, "ActiveSlot": 2 },
    "StorageInventory": { "Inventory": { "Id": "Empty" } },
    "ArmorInventory": { "Inventory": { "Id": "Simple", "Capacity": 4, "Items": {} } },
    "UtilityInventory": { "Inventory": { "Id": "Empty" }, "ActiveSlot": -1 }"#;

/// Slots with the ids of their stacks.
type Stacks = Vec<(u32, String)>;

/// Returns the role, active slot and stacks of every container.
fn found(holder: &Holder) -> Vec<(ContainerRole, Option<u32>, Stacks)> {
    let container_paths = ContainerPath::find(holder).unwrap().into_iter();
    let described = container_paths.map(|path| {
        let items = path.read(holder).unwrap();
        let stacks = items.iter().map(|(slot, stack)| (slot, stack.id().to_owned())).collect();
        (path.role(), path.active_slot(holder).unwrap(), stacks)
    });
    described.collect()
}

fn stack(slot: u32, id: &str) -> Stacks {
    vec![(slot, id.to_owned())]
}

#[test]
fn blocks_of_both_generations() {
    let axe = stack(2, "Axe").into_iter().chain(stack(15, "Charcoal")).collect();
    assert_eq!(found(&holder(OLD_CHEST)), [(ContainerRole::Block, None, axe)]);
    let staff = stack(0, "Staff");
    assert_eq!(found(&holder(NEW_CHEST)), [(ContainerRole::Block, None, staff)]);
    let bench = [
        (ContainerRole::Input, None, vec![]),
        (ContainerRole::Fuel, None, stack(0, "Wood")),
        (ContainerRole::Output, None, vec![]),
    ];
    assert_eq!(found(&holder(BENCH)), bench);
}

#[test]
fn inventories_of_both_generations() {
    let old = [
        (ContainerRole::Storage, None, vec![]),
        (ContainerRole::Armor, None, vec![]),
        (ContainerRole::Hotbar, Some(0), stack(0, "Club")),
        (ContainerRole::Utility, Some(1), stack(1, "Torch")),
        (ContainerRole::Backpack, None, vec![]),
        (ContainerRole::Tools, None, vec![]),
    ];
    for carrier in ["NPC", "Player"] {
        let carrier = holder(&format!("\"{carrier}\": {{ \"Inventory\": {OLD_INVENTORY} }}"));
        assert_eq!(found(&carrier), old);
    }
    let new = [
        (ContainerRole::Hotbar, Some(2), stack(2, "Club")),
        (ContainerRole::Storage, None, vec![]),
        (ContainerRole::Armor, None, vec![]),
        (ContainerRole::Utility, None, vec![]),
    ];
    assert_eq!(found(&holder(NEW_INVENTORY)), new);
}

#[test]
fn creatures_in_a_spawn_marker_and_containers_of_mods() {
    let member =
        format!("{{ \"Components\": {{ \"NPC\": {{ \"Inventory\": {OLD_INVENTORY} }} }} }}");
    let flock = format!("{{ \"Members\": [{member}, {member}] }}");
    let marker = holder(&format!("\"SpawnMarkerComponent\": {{ \"PersistedFlock\": {flock} }}"));
    let container_paths = ContainerPath::find(&marker).unwrap();
    assert_eq!(container_paths.len(), 12);
    let start = "SpawnMarkerComponent.PersistedFlock.Members.1.Components.NPC.Inventory.";
    let hotbar = container_paths.iter().rfind(|path| path.role() == ContainerRole::Hotbar);
    assert_eq!(hotbar.unwrap().to_string(), format!("{start}HotBar"));
    // A bag in a chest of a mod, and a component that is itself a container.
    let bag = r#"{ "Capacity": 1, "Items": {} }"#;
    let chest = format!(
        "{{ \"Capacity\": 4, \"Items\": {{ \"3\": {{ \"Id\": \"Bag\", \"Quantity\": 1,
            \"Metadata\": {{ \"Bag\": {bag} }} }} }} }}"
    );
    let modded = holder(&format!("\"mod:A\": {{ \"In\": {chest} }}, \"mod:B\": {bag}"));
    let container_paths = ContainerPath::find(&modded).unwrap();
    let paths: Vec<String> = container_paths.iter().map(ToString::to_string).collect();
    assert_eq!(paths, ["mod:A.In", "mod:A.In.Items.3.Metadata.Bag", "mod:B"]);
    assert!(container_paths.iter().all(|path| path.role() == ContainerRole::Other));
    assert!(container_paths.iter().all(|path| path.active_slot(&modded) == Ok(None)));
    for path in container_paths {
        let mut again = modded.clone();
        path.write(&mut again, &path.read(&modded).unwrap()).unwrap();
        assert!(!again.is_changed());
    }
}

#[test]
fn unchanged_containers_round_trip() {
    for components in [OLD_CHEST, NEW_CHEST, BENCH, NEW_INVENTORY] {
        let original = holder(components);
        let mut again = original.clone();
        for path in ContainerPath::find(&original).unwrap() {
            path.write(&mut again, &path.read(&original).unwrap()).unwrap();
        }
        assert!(!again.is_changed());
        assert_eq!(again.encode(), original.encode());
    }
}

/// Makes every kind of edit in one chest, and checks that only the edited fields differ.
#[test]
fn an_edit_changes_only_its_fields() {
    let mut chest = holder(OLD_CHEST);
    let path = ContainerPath::find(&chest).unwrap().remove(0);
    let mut items = path.read(&chest).unwrap();
    assert_eq!((items.capacity(), items.kind(), items.len()), (18, None, 2));
    let axe = items.get_mut(2).unwrap();
    assert_eq!((axe.durability(), axe.max_durability()), (79.5, 80.0));
    assert_eq!(axe.metadata().unwrap().get("Name").unwrap().as_str(), Some("Ada's"));
    axe.set_durability(12.0);
    axe.set_max_durability(80.0);
    axe.set_quantity(3);
    axe.set_metadata(None);
    assert_eq!(items.remove(15).unwrap().quantity(), 2);
    assert_eq!(items.set(17, ItemStack::new("Stick", 5)), Ok(None));
    path.write(&mut chest, &items).unwrap();
    let expected = OLD_CHEST.strip_prefix("\"container\": ").unwrap();
    let expected = document(expected).to_json();
    let charcoal = r#""15": {
        "Id": "Charcoal",
        "Quantity": 2,
        "Durability": 0.0,
        "MaxDurability": 0.0,
        "OverrideDroppedItemAnimation": false
      },
      "#;
    let new = ",\n      \"17\": {
        \"Id\": \"Stick\",
        \"Quantity\": 5,
        \"Durability\": 0.0,
        \"MaxDurability\": 0.0,
        \"OverrideDroppedItemAnimation\": false
      }";
    let metadata = ",\n        \"Metadata\": {\n          \"Name\": \"Ada's\"\n        }\n      }";
    let mut edited = expected;
    for (from, to) in [
        (charcoal, ""),
        ("\"Quantity\": 1", "\"Quantity\": 3"),
        ("79.5", "12.0"),
        (metadata, &format!("\n      }}{new}")),
    ] {
        assert_eq!(edited.matches(from).count(), 1, "{from}");
        edited = edited.replace(from, to);
    }
    assert_eq!(component(&chest, "container").to_json(), edited);
}

#[test]
fn undoing_an_edit_restores_the_bytes() {
    let original = holder(OLD_CHEST);
    let path = ContainerPath::find(&original).unwrap().remove(0);
    let mut items = path.read(&original).unwrap();
    let old = items.set(2, ItemStack::new("Other", 1)).unwrap().unwrap();
    items.set(5, ItemStack::new("Stick", 5)).unwrap();
    let mut changed = original.clone();
    path.write(&mut changed, &items).unwrap();
    assert!(changed.is_changed());
    items.set(2, old).unwrap();
    items.remove(5).unwrap();
    path.write(&mut changed, &items).unwrap();
    assert_eq!(changed.encode(), original.encode());
}

#[test]
fn slots_are_checked_and_missing_fields_stay_missing() {
    let mut inventory = holder(NEW_INVENTORY);
    let container_paths = ContainerPath::find(&inventory).unwrap();
    let mut empty = container_paths[1].read(&inventory).unwrap();
    assert_eq!((empty.kind(), empty.capacity()), (Some("Empty"), 0));
    let refused = empty.set(0, ItemStack::new("Stick", 1)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "slot 0 is out of range: the container has 0 slots, numbered from 0"
    );
    let mut hotbar = container_paths[0].read(&inventory).unwrap();
    assert!(hotbar.set(3, ItemStack::new("Stick", 1)).is_err());
    let club = hotbar.get_mut(2).unwrap();
    assert_eq!((club.durability(), club.metadata()), (0.0, None));
    club.set_durability(0.0);
    club.set_metadata(None);
    container_paths[0].write(&mut inventory, &hotbar).unwrap();
    assert!(!inventory.is_changed());
    // A container without items gets the field when an item is added.
    let bytes = document(r#"{ "Capacity": 2, "Items": null, "Tail": 1 }"#).to_bytes();
    let mut items = ItemContainer::decode(RawDocument::new(&bytes).unwrap()).unwrap();
    assert_eq!(items.encode(), bytes);
    items.set(1, ItemStack::new("Stick", 1)).unwrap();
    let encoded = items.encode();
    let again = Document::from_raw(RawDocument::new(&encoded).unwrap()).unwrap();
    let keys: Vec<&str> = again.fields().map(|(key, _)| key).collect();
    assert_eq!(keys, ["Capacity", "Items", "Tail"]);
}

#[test]
fn items_on_the_ground() {
    let mut entity = holder(
        r#""Item": { "Item": { "Id": "Helmet", "Quantity": 1, "Durability": 120.0 },
                     "StackDelay": 1.5 }"#,
    );
    let mut helmet = ItemStack::of_dropped(&entity).unwrap().unwrap();
    assert_eq!((helmet.id(), helmet.durability()), ("Helmet", 120.0));
    helmet.put_dropped(&mut entity).unwrap();
    assert!(!entity.is_changed());
    helmet.set_id("Helmet_Sandy");
    helmet.put_dropped(&mut entity).unwrap();
    let expected = r#"{ "Item": { "Id": "Helmet_Sandy", "Quantity": 1, "Durability": 120.0 },
                        "StackDelay": 1.5 }"#;
    assert_eq!(component(&entity, "Item"), document(expected));
    assert_eq!(ItemStack::of_dropped(&holder(NEW_CHEST)).unwrap(), None);
    assert!(helmet.put_dropped(&mut holder(NEW_CHEST)).is_err());
}

/// Errors name the path of the malformed value, and the value is kept.
#[test]
fn malformed_containers_are_reported_and_kept() {
    let type_of = |path: &str, found: i32, expected: &str| {
        format!("{path}: the BSON type is {found}; expected {expected}")
    };
    let (integer, text) = ("16, a 32-bit integer", "2, text in UTF-8");
    let (number, object) = ("1, a float, or 16, a 32-bit integer", "3, a document");
    let capacity = "16, a 32-bit integer, which is 0 or more";
    let stack =
        |fields: &str| format!(r#"{{ "Capacity": 1, "Items": {{ "0": {{ {fields} }} }} }}"#);
    let items = |items: &str| format!(r#"{{ "Capacity": 1, "Items": {items} }}"#);
    for (container, expected) in [
        ("5".to_owned(), type_of("", 16, object)),
        ("[]".to_owned(), type_of("", 4, object)),
        (items("[]"), type_of("Items", 4, object)),
        (items("\"\""), type_of("Items", 2, object)),
        (r#"{ "Capacity": "18", "Items": {} }"#.to_owned(), type_of("Capacity", 2, capacity)),
        (r#"{ "Capacity": -1, "Items": {} }"#.to_owned(), type_of("Capacity", 16, capacity)),
        (r#"{ "Id": 7 }"#.to_owned(), type_of("Id", 16, text)),
        (items(r#"{ "0": 5 }"#), type_of("Items.0", 16, object)),
        (items(r#"{ "0": null }"#), type_of("Items.0", 10, object)),
        (items(r#"{ "01": {} }"#), "Items.01: a slot number as key is missing".to_owned()),
        (items(r#"{ "-1": {} }"#), "Items.-1: a slot number as key is missing".to_owned()),
        (stack(r#""Quantity": 1"#), "Items.0: Id is missing".to_owned()),
        (stack(r#""Id": "A""#), "Items.0: Quantity is missing".to_owned()),
        (stack(r#""Id": 1, "Quantity": 1"#), type_of("Items.0.Id", 16, text)),
        (stack(r#""Id": "A", "Quantity": 1.0"#), type_of("Items.0.Quantity", 1, integer)),
        (stack(r#""Id": "A", "Quantity": 5000000000"#), type_of("Items.0.Quantity", 18, integer)),
        (
            stack(r#""Id": "A", "Quantity": 1, "Durability": true"#),
            type_of("Items.0.Durability", 8, number),
        ),
        (
            stack(r#""Id": "A", "Quantity": 1, "Metadata": []"#),
            type_of("Items.0.Metadata", 4, object),
        ),
    ] {
        let chest = holder(&format!("\"container\": {{ \"ItemContainer\": {container} }}"));
        let bytes = chest.encode();
        let container_paths = ContainerPath::find(&chest).unwrap();
        assert_eq!(container_paths.len(), 1, "{container}");
        let error = container_paths[0].read(&chest).unwrap_err();
        let Error::Malformed { path, source } = &error else { panic!("{error}") };
        let path = path.strip_prefix("container.ItemContainer").unwrap();
        let found = format!("{}: {}", path.trim_start_matches('.'), source.problem);
        assert_eq!(found, expected, "{container}");
        assert_eq!(chest.encode(), bytes);
    }
}

#[test]
fn duplicate_slots_and_missing_containers_are_errors() {
    let mut items = hyworld_chunk::bson::DocumentWriter::new();
    for _ in 0..2 {
        items.document("3", &ItemStack::new("Stick", 1).encode());
    }
    let mut container = hyworld_chunk::bson::DocumentWriter::new();
    container.document("Items", &items.finish());
    let bytes = container.finish();
    let error = ItemContainer::decode(RawDocument::new(&bytes).unwrap()).unwrap_err();
    assert!(
        error.to_string().ends_with("the number of stacks in this slot is 2; expected 1"),
        "{error}"
    );
    let chest = holder(OLD_CHEST);
    let path = ContainerPath::find(&chest).unwrap().remove(0);
    let mut other = holder(NEW_CHEST);
    let start = "container.ItemContainer: ";
    let gone = path.read(&other).unwrap_err();
    assert!(gone.to_string().starts_with(start), "{gone}");
    let gone = path.write(&mut other, &ItemContainer::new(1)).unwrap_err();
    assert!(gone.to_string().starts_with(start), "{gone}");
    assert!(!other.is_changed());
}

/// Damaged bytes never cause a panic, and containers that can be read round-trip.
#[test]
fn damaged_bytes_do_not_panic() {
    let (mut tried, mut read) = (0, 0);
    for components in [OLD_CHEST, NEW_CHEST, BENCH, NEW_INVENTORY] {
        let bytes = holder(components).encode();
        for position in 0..bytes.len() {
            for flip in [0x01, 0x10, 0x80, 0xff] {
                let mut flipped = bytes.clone();
                *flipped.get_mut(position).unwrap() ^= flip;
                tried += 1;
                let Ok(mut holder) = Holder::decode(flipped.clone()) else { continue };
                for path in ContainerPath::find(&holder).unwrap_or_default() {
                    let Ok(items) = path.read(&holder) else { continue };
                    path.write(&mut holder, &items).unwrap();
                    read += 1;
                }
                assert_eq!(holder.encode(), flipped, "byte {position} ^ {flip}");
            }
        }
    }
    println!("{tried} flipped holders, {read} containers read from them");
    assert!(read > tried / 2);
}
