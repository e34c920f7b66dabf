use super::*;
use crate::error::Error;
use crate::fields::Fields;

#[derive(Clone, Debug, PartialEq)]
struct Age(i32);

impl Component for Age {
    const ID: &'static str = "Age";
    const VERSION: i32 = 2;

    fn decode(document: RawDocument<'_>, _version: i32) -> Result<Self> {
        let years = document.get("Years")?.and_then(|years| years.as_i32());
        Ok(Self(years.unwrap_or(0)))
    }

    fn encode(&self, fields: &mut Fields<'_>) {
        fields.int32("Years", self.0);
    }
}

/// A second type with the same id.
#[derive(Clone, Debug, PartialEq)]
struct Years(i32);

impl Component for Years {
    const ID: &'static str = "Age";
    const VERSION: i32 = 2;

    fn decode(document: RawDocument<'_>, version: i32) -> Result<Self> {
        Age::decode(document, version).map(|age| Self(age.0))
    }

    fn encode(&self, fields: &mut Fields<'_>) {
        Age(self.0).encode(fields);
    }
}

fn age(version: i32) -> Vec<u8> {
    let mut writer = DocumentWriter::new();
    writer.int32("Version", version);
    writer.int32("Years", 30);
    writer.string("Note", "not understood");
    writer.finish()
}

fn aged(version: i32) -> Holder {
    let mut holder = Holder::new();
    holder.set_raw("Unregistered", &age(9)).unwrap();
    holder.set_raw("Age", &age(version)).unwrap();
    Holder::decode(holder.encode()).unwrap()
}

#[test]
fn reading_changes_nothing() {
    let holder = aged(2);
    assert_eq!(holder.get::<Age>().unwrap(), Some(&Age(30)));
    assert_eq!(holder.round_trips::<Age>(), Ok(Some(true)));
    assert!(!holder.is_changed());
    assert_eq!(holder.encode(), aged(2).encode());
}

#[test]
fn a_change_keeps_all_other_fields() {
    let mut holder = aged(1);
    holder.get_mut::<Age>().unwrap().unwrap().0 = 31;
    assert!(holder.is_changed());
    let saved = Holder::decode(holder.encode()).unwrap();
    for holder in [&holder, &saved] {
        assert_eq!(holder.get::<Age>().unwrap(), Some(&Age(31)));
        let document = holder.raw("Age").unwrap();
        assert_eq!(document.get("Version").unwrap().unwrap().as_i32(), Some(2));
        assert_eq!(document.get("Note").unwrap().unwrap().as_str(), Some("not understood"));
        assert_eq!(holder.raw("Unregistered"), aged(1).raw("Unregistered"));
    }
    assert_eq!(saved, holder);
    holder.get_mut::<Age>().unwrap().unwrap().0 = 32;
    assert_eq!(holder.raw("Age").unwrap().get("Years").unwrap().unwrap().as_i32(), Some(32));
}

#[test]
fn a_copy_does_not_see_later_changes() {
    let mut holder = aged(2);
    holder.get_mut::<Age>().unwrap().unwrap().0 = 31;
    let copy = holder.clone();
    holder.get_mut::<Age>().unwrap().unwrap().0 = 32;
    assert_eq!(copy.get::<Age>().unwrap(), Some(&Age(31)));
    assert_eq!(holder.original::<Age>().unwrap(), Some(&Age(30)));
}

#[test]
fn a_declined_change_restores_the_holder() {
    let (before, none) = (aged(2).encode(), || Age(0));
    let mut holder = Holder::decode(before.clone()).unwrap();
    let change = |age: &mut Age| {
        age.0 = 99;
        Ok::<bool, Error>(false)
    };
    assert_eq!(holder.try_change(none, change), Ok(false));
    assert!(!holder.is_changed() && holder.encode() == before);
    assert_eq!(holder.get::<Age>().unwrap(), Some(&Age(30)));
    holder.remove("Age");
    let without = holder.encode();
    assert_eq!(holder.try_change(none, change), Ok(false));
    assert_eq!(holder.encode(), without);
    assert_eq!(holder.try_change(none, |_: &mut Age| Ok::<bool, Error>(true)), Ok(true));
    assert_eq!(holder.get::<Age>().unwrap(), Some(&Age(0)));
}

#[test]
fn a_newer_component_is_an_error_and_its_bytes_are_kept() {
    let mut holder = aged(3);
    let expected = Error::Newer { path: "Age".to_owned(), found: 3, known: 2 };
    assert_eq!(holder.get::<Age>().unwrap_err(), expected);
    assert_eq!(holder.get_mut::<Age>().unwrap_err(), expected);
    assert!(!holder.is_changed());
    assert_eq!(holder.encode(), aged(3).encode());
}

#[test]
fn two_types_with_one_id_are_detected() {
    let mut holder = aged(2);
    assert!(holder.get::<Age>().is_ok());
    let error = holder.get::<Years>().unwrap_err();
    assert_eq!(error, Error::OtherType { path: "Age".to_owned() });
    holder.get_mut::<Years>().unwrap().unwrap().0 = 5;
    assert_eq!(holder.get::<Years>().unwrap(), Some(&Years(5)));
}

#[test]
fn new_components_are_stored_and_removed_ones_are_not() {
    let mut holder = Holder::new();
    assert_eq!(holder.get_mut::<Age>().unwrap(), None);
    holder.put(&Age(1)).unwrap();
    assert_eq!(Holder::decode(holder.encode()).unwrap().get::<Age>().unwrap(), Some(&Age(1)));
    assert!(holder.remove("Age") && !holder.remove("Age"));
    assert!(!Holder::decode(holder.encode()).unwrap().contains("Age"));
}

fn text(value: &str) -> Vec<u8> {
    let mut writer = DocumentWriter::new();
    writer.string("Text", value);
    writer.finish()
}

fn sample() -> Vec<u8> {
    let mut components = DocumentWriter::new();
    components.document("Zebra", &text("z"));
    components.document("Apple", &text("a"));
    components.int32("Odd", 7);
    let mut writer = DocumentWriter::new();
    writer.int32("Version", 2);
    writer.document("Components", &components.finish());
    writer.boolean("Tail", true);
    writer.finish()
}

#[test]
fn an_untouched_holder_encodes_to_the_same_bytes() {
    let holder = Holder::decode(sample()).unwrap();
    assert!(!holder.is_changed());
    assert_eq!(holder.encode(), sample());
    assert_eq!(holder.ids().collect::<Vec<_>>(), ["Zebra", "Apple", "Odd"]);
    assert!(holder.raw("Apple").is_some() && holder.raw("Odd").is_none());
}

#[test]
fn components_and_other_fields_are_listed() {
    let holder = Holder::decode(sample()).unwrap();
    let seven = 7_i32.to_le_bytes();
    let (zebra, apple) = (text("z"), text("a"));
    let expected = [
        ("Zebra", Kind::DOCUMENT, zebra.as_slice()),
        ("Apple", Kind::DOCUMENT, apple.as_slice()),
        ("Odd", Kind::INT32, seven.as_slice()),
    ];
    assert!(holder.entries().eq(expected));
    let beside: Vec<_> = holder.other_fields().map(|(key, kind, _)| (key, kind)).collect();
    assert_eq!(beside, [("Version", Kind::INT32), ("Tail", Kind::BOOLEAN)]);
}

#[test]
fn undoing_a_change_restores_the_bytes() {
    let mut holder = Holder::decode(sample()).unwrap();
    holder.set_raw("Apple", &text("a")).unwrap();
    assert!(!holder.is_changed(), "setting the same document is not a change");
    holder.set_raw("Apple", &text("other")).unwrap();
    assert!(holder.is_changed());
    assert_ne!(holder.encode(), sample());
    holder.set_raw("Apple", &text("a")).unwrap();
    assert_eq!(holder.encode(), sample());
}

#[test]
fn new_components_are_appended_and_can_be_removed() {
    let mut holder = Holder::decode(sample()).unwrap();
    holder.set_raw("New", &text("n")).unwrap();
    assert_eq!(holder.ids().last(), Some("New"));
    assert!(holder.remove("New") && !holder.remove("New"));
    assert_eq!(holder.encode(), sample());
}

#[test]
fn truncations_and_bit_flips_do_not_panic() {
    let bytes = sample();
    for len in 0..bytes.len() {
        assert!(Holder::decode(bytes[..len].to_vec()).is_err(), "{len}");
    }
    for position in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[position] ^= 1 << bit;
            if let Ok(holder) = Holder::decode(flipped.clone()) {
                assert_eq!(holder.encode(), flipped, "byte {position} bit {bit}");
            }
        }
    }
}

#[test]
fn components_in_an_array_are_ignored() {
    let mut writer = DocumentWriter::new();
    writer.raw("Components", Kind::ARRAY, &text("x"));
    assert!(Holder::decode(writer.clone().finish()).is_err());
    writer.document("Components", &text("x"));
    let bytes = writer.finish();
    let mut holder = Holder::decode(bytes.clone()).unwrap();
    holder.set_raw("New", &text("n")).unwrap();
    assert!(holder.remove("New"));
    assert_eq!(holder.encode(), bytes);
}

#[test]
fn a_document_without_components_is_rejected() {
    let refused = Holder::decode(text("x")).unwrap_err();
    assert!(matches!(refused, Error::Malformed { .. }), "{refused}");
}

/// Encoding a section only to look at its ids was a fifth of the time of a save.
#[test]
fn looking_for_a_list_does_not_encode_changed_components() {
    let mut chunk = crate::Chunk::new();
    let at = hyworld_coords::ChunkBlock::new(1, 2, 3).unwrap();
    chunk.set_block(at, "Rock_Stone").unwrap();
    let section = chunk.section_holder(at.section()).unwrap();
    assert!(section.components.iter().any(Entry::is_changed));
    assert!(section.decoded_list::<crate::components::EntitySection>().is_none());
    assert!(section.components.iter().all(|entry| !entry.is_encoded()));
    section.raw("Block").unwrap();
    assert!(section.components.iter().any(Entry::is_encoded));
}
