//! Names of slots: the number, and the chunk if the file name and geometry determine it.

use std::path::Path;

use hyworld_coords::RegionSlot;
use hyworld_indexed_storage::{Geometry, IndexedStorageFile, Slot};
use hyworld_maintenance::RegionSlots;
use serde::Serialize;

use crate::args::SlotArg;
use crate::exit;
use crate::output::text;

/// The slot of a JSON object.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct SlotKeys {
    slot: Option<u32>,
    x: Option<u8>,
    z: Option<u8>,
}

/// Formats the slots of one file.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotNames {
    geometry: Geometry,
    slots: RegionSlots,
}

impl SlotNames {
    pub(super) fn new(path: &Path, geometry: Geometry) -> Self {
        Self { geometry, slots: RegionSlots::new(path, geometry) }
    }

    pub(super) fn of(file: &IndexedStorageFile) -> Self {
        Self::new(file.path(), file.geometry())
    }

    pub(super) fn slots(&self) -> RegionSlots {
        self.slots
    }

    fn local(&self, slot: Slot) -> Option<RegionSlot> {
        self.slots.local(slot)
    }

    /// Formats a slot as `slot 33 (x 1, z 1)`.
    pub(super) fn name(&self, slot: Slot) -> String {
        match self.local(slot) {
            Some(local) => format!("slot {slot} (x {}, z {})", local.x(), local.z()),
            None => format!("slot {slot}"),
        }
    }

    /// Formats slot, x and z as table cells.
    pub(super) fn cells(&self, slot: Option<Slot>) -> [String; 3] {
        let cell = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
        let local = slot.and_then(|slot| self.local(slot));
        [
            cell(slot.map(|slot| slot.to_string())),
            cell(local.map(|local| local.x().to_string())),
            cell(local.map(|local| local.z().to_string())),
        ]
    }

    /// Returns slot, x and z as members of a JSON object.
    pub(super) fn keys(&self, slot: Option<Slot>) -> SlotKeys {
        let local = slot.and_then(|slot| self.local(slot));
        SlotKeys {
            slot: slot.map(Slot::get),
            x: local.map(RegionSlot::x),
            z: local.map(RegionSlot::z),
        }
    }

    /// Resolves a slot argument.
    pub(super) fn resolve(&self, path: &Path, slot: SlotArg) -> anyhow::Result<Slot> {
        let count = self.geometry.blob_count();
        let last = count.saturating_sub(1);
        let name = path.display();
        match slot {
            SlotArg::Number(slot) if slot.get() < count => Ok(slot),
            SlotArg::Number(slot) => {
                Err(exit::usage(format!("{name}: no slot {slot}; this file has slots 0 to {last}")))
            }
            SlotArg::Local(local) => {
                let slot = Slot::new(local.index().into());
                self.local(slot).map(|_| slot).ok_or_else(|| {
                    exit::usage(format!(
                        "{name}: x,z needs a file with 1,024 slots; this one has {}: \
                         give a number from 0 to {last}",
                        text::thousands(count)
                    ))
                })
            }
        }
    }
}
