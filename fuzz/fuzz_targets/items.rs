//! Containers of items in any holder: kept as they were read, and changed only where they were
//! changed.
#![no_main]

use hyworld_chunk::bson::DocumentWriter;
use hyworld_chunk::{ContainerPath, Holder, ItemStack};
use libfuzzer_sys::fuzz_target;

/// Enough for a few containers, and quickly done.
const STEPS_MAX: usize = 4096;

fuzz_target!(|data: &[u8]| {
    let Some((mut choices, bytes)) = hyworld_fuzz::split(data) else { return };
    let Some(holder) = holder(choices.byte(), bytes) else { return };
    check_dropped(&holder);
    let Ok(places) = ContainerPath::find(&holder) else { return };
    for place in places.into_iter().take(20) {
        drop((place.to_string(), place.active_slot(&holder).map_err(|error| error.to_string())));
        check_place(&holder, &place, u32::from(choices.byte()));
    }
});

/// The holder itself, or one whose only component is the document.
fn holder(choice: u8, bytes: Vec<u8>) -> Option<Holder> {
    let document = match choice & 1 {
        0 => bytes,
        _ => hyworld_fuzz::document::build(&bytes[..bytes.len().min(STEPS_MAX)]),
    };
    if choice & 2 == 0 {
        return Holder::decode(document).ok();
    }
    let mut components = DocumentWriter::new();
    components.document(if choice & 4 == 0 { "container" } else { "Item" }, &document);
    let mut writer = DocumentWriter::new();
    writer.document("Components", &components.finish());
    Holder::decode(writer.finish()).ok()
}

fn check_place(holder: &Holder, place: &ContainerPath, slot: u32) {
    let Ok(mut items) = place.read(holder) else { return };
    let mut written = holder.clone();
    place.write(&mut written, &items).expect("it was read from there");
    assert!(written.encode() == holder.encode(), "{place}");
    let others: Vec<_> = items.iter().map(|(slot, stack)| (slot, stack.clone())).collect();
    let is_there = items.get(slot).is_some();
    let set = items.set(slot, ItemStack::new("Fuzz", 7));
    assert_eq!(set.is_ok(), is_there || slot < items.capacity());
    place.write(&mut written, &items).expect("it was written before");
    let written = Holder::decode(written.encode()).expect("we wrote it");
    let again = place.read(&written).expect("we wrote it");
    assert_eq!(again.get(slot).map(ItemStack::quantity), set.is_ok().then_some(7));
    for (other, stack) in others.iter().filter(|(other, _)| *other != slot) {
        // Not compared as values: a float may be one that does not equal itself.
        assert_eq!(again.get(*other).map(ItemStack::encode), Some(stack.encode()));
    }
}

/// An item on the ground, written over itself.
fn check_dropped(holder: &Holder) {
    let Ok(Some(stack)) = ItemStack::of_dropped(holder) else { return };
    let mut written = holder.clone();
    stack.put_dropped(&mut written).expect("it was read from there");
    assert!(written.encode() == holder.encode());
    drop((stack.id().to_owned(), stack.quantity(), stack.metadata().cloned()));
}
