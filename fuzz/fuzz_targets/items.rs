//! Item containers in any holder round-trip, and a change affects only its slot.
#![no_main]

use hyworld_chunk::bson::DocumentWriter;
use hyworld_chunk::{ContainerPath, Holder, ItemStack};
use libfuzzer_sys::fuzz_target;

/// Enough for a few containers, and still fast.
const STEPS_MAX: usize = 4096;

fuzz_target!(|data: &[u8]| {
    let Some((mut choices, bytes)) = hyworld_fuzz::split(data) else { return };
    let Some(holder) = holder(choices.byte(), bytes) else { return };
    check_dropped(&holder);
    let Ok(paths) = ContainerPath::find(&holder) else { return };
    for path in paths.into_iter().take(20) {
        drop((path.to_string(), path.active_slot(&holder).map_err(|error| error.to_string())));
        check_container(&holder, &path, u32::from(choices.byte()));
    }
});

/// Returns the holder itself, or one whose only component is the document.
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

fn check_container(holder: &Holder, path: &ContainerPath, slot: u32) {
    let Ok(mut items) = path.read(holder) else { return };
    let mut written = holder.clone();
    path.write(&mut written, &items).expect("it was read from there");
    assert!(written.encode() == holder.encode(), "{path}");
    let others: Vec<_> = items.iter().map(|(slot, stack)| (slot, stack.clone())).collect();
    let has_stack = items.get(slot).is_some();
    let set = items.set(slot, ItemStack::new("Fuzz", 7));
    assert_eq!(set.is_ok(), has_stack || slot < items.capacity());
    path.write(&mut written, &items).expect("it was written before");
    let written = Holder::decode(written.encode()).expect("just encoded");
    let again = path.read(&written).expect("just encoded");
    assert_eq!(again.get(slot).map(ItemStack::quantity), set.is_ok().then_some(7));
    for (other, stack) in others.iter().filter(|(other, _)| *other != slot) {
        // Compared as bytes, because a float may be NaN.
        assert_eq!(again.get(*other).map(ItemStack::encode), Some(stack.encode()));
    }
}

/// Checks that writing an item on the ground over itself changes nothing.
fn check_dropped(holder: &Holder) {
    let Ok(Some(stack)) = ItemStack::of_dropped(holder) else { return };
    let mut written = holder.clone();
    stack.put_dropped(&mut written).expect("it was read from there");
    assert!(written.encode() == holder.encode());
    drop((stack.id().to_owned(), stack.quantity(), stack.metadata().cloned()));
}
