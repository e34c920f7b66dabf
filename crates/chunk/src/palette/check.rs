//! Anomalies of palettes that can still be read.

use std::collections::HashMap;
use std::fmt;

use super::{Palette, PaletteKey, PaletteType};

/// An anomaly that the game never writes. A palette with anomalies can be read, and is kept as it
/// is until it is changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum PaletteAnomaly {
    /// The count of an entry differs from the number of cells that have it.
    Count {
        /// The id of the entry.
        internal_id: u16,
        /// The stored count.
        listed: u16,
        /// The actual number of cells.
        cells: u32,
    },
    /// No cell has this entry.
    Unused {
        /// The id of the entry.
        internal_id: u16,
    },
    /// Cells have an id without an entry. They read as the default value.
    Unlisted {
        /// The id in the cells.
        internal_id: u16,
        /// How many cells have it.
        cells: u32,
    },
    /// An id has more than one entry. Only the first one is used.
    DuplicateId {
        /// The repeated id.
        internal_id: u16,
    },
    /// A value has more than one entry, under different ids.
    DuplicateKey {
        /// The id of its first entry.
        first_id: u16,
        /// The id of this entry.
        internal_id: u16,
    },
    /// An id is greater than a cell of this type can hold.
    IdOutOfRange {
        /// The id of the entry.
        internal_id: u16,
    },
}

impl<K: PaletteKey> Palette<K> {
    /// Returns all anomalies, in entry order and then by id. Visits every cell.
    pub fn check(&self) -> Vec<PaletteAnomaly> {
        if self.kind() == PaletteType::Empty {
            return Vec::new();
        }
        let mut anomalies = Vec::new();
        let counts = self.cells.counts();
        let mut listed = vec![false; counts.len()];
        let mut first_ids = HashMap::with_capacity(self.entries.len());
        for entry in &self.entries {
            let internal_id = entry.internal_id;
            let index = usize::from(internal_id);
            let (Some(&cells), Some(seen)) = (counts.get(index), listed.get_mut(index)) else {
                anomalies.push(PaletteAnomaly::IdOutOfRange { internal_id });
                continue;
            };
            if std::mem::replace(seen, true) {
                anomalies.push(PaletteAnomaly::DuplicateId { internal_id });
                continue;
            }
            let first_id = *first_ids.entry(&entry.key).or_insert(internal_id);
            if first_id != internal_id {
                anomalies.push(PaletteAnomaly::DuplicateKey { first_id, internal_id });
            }
            if u32::from(entry.count) != cells {
                let listed = entry.count;
                anomalies.push(PaletteAnomaly::Count { internal_id, listed, cells });
            } else if cells == 0 {
                anomalies.push(PaletteAnomaly::Unused { internal_id });
            }
        }
        for ((internal_id, cells), listed) in (0..=u16::MAX).zip(counts).zip(listed) {
            if cells > 0 && !listed {
                anomalies.push(PaletteAnomaly::Unlisted { internal_id, cells });
            }
        }
        anomalies
    }
}

impl fmt::Display for PaletteAnomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { internal_id, listed, cells } => {
                write!(f, "entry {internal_id} has a count of {listed}, but {cells} cells have it")
            }
            Self::Unused { internal_id } => write!(f, "no cell has entry {internal_id}"),
            Self::Unlisted { internal_id, cells } => {
                write!(f, "{cells} cells have id {internal_id}, which no entry has")
            }
            Self::DuplicateId { internal_id } => {
                write!(f, "id {internal_id} is listed more than once")
            }
            Self::DuplicateKey { first_id, internal_id } => {
                write!(f, "entry {internal_id} repeats the value of entry {first_id}")
            }
            Self::IdOutOfRange { internal_id } => {
                write!(f, "entry {internal_id} has an id that no cell of this type can hold")
            }
        }
    }
}
