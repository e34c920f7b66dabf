//! Compares chosen operations, on a disk that stops at a chosen point, with a map. After a kill
//! every slot is old or new; also after a power cut, if each write is synced.
#![no_main]

use std::collections::BTreeMap;
use std::sync::Arc;

use hyworld_indexed_storage::{
    Durability, FaultPlan, FaultyFile, Geometry, IndexedStorageFile, MemoryFile, OpenOptions,
    SealTag, Slot,
};
use libfuzzer_sys::fuzz_target;

const SLOTS: u32 = 5;

type World = BTreeMap<u32, Option<Vec<u8>>>;

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn blob(&mut self) -> Option<Vec<u8>> {
        let (len, step) = (usize::from(self.byte()?) * 7, self.byte()?);
        let byte = |number: usize| u8::try_from(number * usize::from(step) % 256).unwrap_or(0);
        Some((0..len).map(byte).collect())
    }
}

fuzz_target!(|data: &[u8]| {
    run(&mut Input(data));
});

fn options(durability: Durability) -> OpenOptions {
    let geometry = Geometry::new(SLOTS, 64).expect("within limits");
    let options = OpenOptions::new().write(true).create(true).geometry(geometry);
    options.durability(durability).released_bytes_max(1024)
}

fn run(input: &mut Input<'_>) -> Option<()> {
    let choice = input.byte()?;
    let durability = if choice & 1 == 0 { Durability::Relaxed } else { Durability::EachWrite };
    let stop_at = Some(u64::from(input.byte()?));
    let plan = FaultPlan { stop_at, tear: choice & 2 != 0, seed: choice.into(), fail_at: None };
    let disk = Arc::new(FaultyFile::new(Vec::new(), plan));
    let mut acknowledged: World = (0..SLOTS).map(|slot| (slot, None)).collect();
    let mut pending = acknowledged.clone();
    if let Ok(file) = options(durability).open_raw(Box::new(Arc::clone(&disk)), "fuzz") {
        while let Some(ok) = step(&file, input, &mut pending) {
            if !ok {
                break;
            }
            acknowledged.clone_from(&pending);
            check(&file, &acknowledged, &acknowledged);
        }
    }
    check_image(disk.after_kill(), &acknowledged, &pending);
    if durability == Durability::EachWrite {
        let image = disk.after_power_cut(choice.into(), choice & 4 != 0);
        check_image(image, &acknowledged, &pending);
    }
    Some(())
}

/// Runs one operation and returns whether it succeeded. Returns `None` at the end of the input.
fn step(file: &IndexedStorageFile, input: &mut Input<'_>, world: &mut World) -> Option<bool> {
    let operation = input.byte()?;
    let slot = u32::from(operation >> 3) % SLOTS;
    let index = Slot::new(slot);
    let result = match operation & 7 {
        0 => file.sync(),
        1 | 2 => {
            world.insert(slot, None);
            file.remove(index).map(|_| ())
        }
        3 => {
            let blob = input.blob()?;
            world.insert(slot, Some(blob.clone()));
            let tag = SealTag::new(*b"fuzz").expect("short");
            file.write_sealed(index, &blob, &tag)
        }
        _ => {
            let blob = input.blob()?;
            world.insert(slot, Some(blob.clone()));
            file.write(index, &blob)
        }
    };
    Some(result.is_ok())
}

fn check_image(image: Vec<u8>, old: &World, new: &World) {
    let memory = Box::new(MemoryFile::new(image));
    let file = options(Durability::Relaxed).open_raw(memory, "image").expect("it opens");
    check(&file, old, new);
    file.salvage().expect("memory does not fail");
}

fn check(file: &IndexedStorageFile, old: &World, new: &World) {
    for slot in 0..SLOTS {
        let found = file.read(Slot::new(slot)).expect("no slot is damaged");
        assert!(found == old[&slot] || found == new[&slot], "slot {slot} is neither old nor new");
    }
}
