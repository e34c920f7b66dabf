//! What is wrong with a file, in the form in which `info` and `verify` show it.

use std::io::{self, Write};
use std::path::Path;

use hyworld_indexed_storage::{
    BlobIndex, Damage, FormatVersion, IndexedStorageFile, SealDamage, SlotDamage,
};
use serde_json::{Map, Value, json};

use super::place::Places;
use crate::exit;
use crate::output::text;

/// Sentences are broken to fit a terminal of the usual width.
const WIDTH: usize = 80;

/// One thing that is wrong.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// The slot; `None` if the file as a whole is concerned.
    slot: Option<BlobIndex>,
    class: &'static str,
    /// Where to look: the blob if its place is known, else its index entry.
    offset: u64,
    readable: bool,
    message: String,
    advice: &'static str,
}

impl Finding {
    pub(super) fn of_slot(file: &IndexedStorageFile, found: &SlotDamage) -> Self {
        let SlotDamage { slot, damage } = *found;
        let geometry = file.geometry();
        let blob = match (file.version(), file.stat(slot)) {
            (FormatVersion::V1, Ok(Some(stat))) => Some(geometry.segment_offset(stat.segment)),
            _ => None,
        };
        Self {
            slot: Some(slot),
            class: damage.class(),
            offset: blob.unwrap_or_else(|| geometry.entry_offset(slot)),
            readable: damage.is_readable(),
            message: damage.to_string(),
            advice: advice(&damage),
        }
    }

    /// A file that ends inside its index table, with nothing but zeros before: one with entries is
    /// refused by the library. It reads those that are missing as empty slots, as the game does.
    pub(super) fn of_table(file: &IndexedStorageFile) -> anyhow::Result<Option<Self>> {
        let end = file.segments_offset();
        let offset = file.file_bytes()?;
        if offset >= end {
            return Ok(None);
        }
        Ok(Some(Self {
            slot: None,
            class: "table-cut-off",
            offset,
            readable: false,
            message: format!(
                "the file ends inside its index table, which should end at byte {end}, and holds \
                 nothing before; all slots are read as empty"
            ),
            advice: "a file that was just being made has lost nothing; any other needs a backup",
        }))
    }

    /// The finding in the one line of an error.
    pub(super) fn problem(&self, path: &Path) -> anyhow::Error {
        exit::problem(format!("{}: {}", path.display(), self.message))
    }

    /// The finding in three lines.
    pub(super) fn write(&self, out: &mut impl Write, places: &Places) -> io::Result<()> {
        let place = match self.slot {
            Some(slot) => places.name(slot),
            None => "index table".to_owned(),
        };
        writeln!(out, "{place}: {} at byte {}", self.class, self.offset)?;
        for sentence in [self.message.as_str(), self.advice] {
            writeln!(out, "{}", text::wrap(sentence, "    ", WIDTH))?;
        }
        Ok(())
    }

    pub(super) fn json(&self, places: &Places) -> Map<String, Value> {
        let [slot, x, z] = places.json(self.slot);
        let fields = [
            ("slot", slot),
            ("x", x),
            ("z", z),
            ("class", json!(self.class)),
            ("offset", json!(self.offset)),
            ("readable", json!(self.readable)),
            ("message", json!(self.message)),
            ("advice", json!(self.advice)),
        ];
        fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// Damaged slots in the reports of verbs that change a file.
pub(super) fn damage_json(places: &Places, damaged: &[SlotDamage]) -> Value {
    let object = |found: &SlotDamage| {
        let [slot, x, z] = places.json(Some(found.slot));
        let (class, message) = (found.damage.class(), found.damage.to_string());
        json!({"slot": slot, "x": x, "z": z, "class": class, "message": message})
    };
    damaged.iter().map(object).collect()
}

/// Damaged slots, one line each.
pub(super) fn write_damage(
    out: &mut impl Write,
    places: &Places,
    damaged: &[SlotDamage],
) -> io::Result<()> {
    for found in damaged {
        let (class, damage) = (found.damage.class(), &found.damage);
        writeln!(out, "  {}: {class}: {damage}", places.name(found.slot))?;
    }
    Ok(())
}

/// What to do about it.
fn advice(damage: &Damage) -> &'static str {
    match damage {
        Damage::IndexNegative { .. } => {
            "if the blob was sealed, `verify --rebuild-index` puts it back; else see `salvage`"
        }
        Damage::PastEnd { .. } => {
            "the entry is wrong or the file was cut short: if the blob was sealed, `verify \
             --rebuild-index` puts it back; else see `salvage`"
        }
        Damage::LengthLimit { .. } => {
            "no chunk is that large, so its length is probably damaged: see `salvage` for an \
             older copy, or restore it from a backup"
        }
        Damage::CutOff { .. } => {
            "the file was cut short or its length is damaged: restore it from a backup, or see \
             `salvage` for an older copy"
        }
        Damage::Unreadable { .. } => {
            "the disk may be failing: copy the file to another one, and check the copy"
        }
        Damage::Changed => "stop the other program and check again",
        Damage::Overlap { .. } => {
            "one of the two is in the wrong slot: look at both with `get`, put back the right \
             content with `put`"
        }
        Damage::ContentShorter { found, .. } if *found > 0 => {
            "`get` it and `put` it back, and its length is right again"
        }
        Damage::Seal(SealDamage::Slot { .. }) => {
            "`verify --rebuild-index` puts it where it belongs"
        }
        Damage::ChainBroken { .. }
        | Damage::ChainCycle { .. }
        | Damage::ChainShort { .. }
        | Damage::ChainLong { .. } => {
            "`upgrade` brings the other blobs to version 1 and keeps the old file"
        }
        _ => {
            "restore it from a backup, or see `salvage` for an older copy; without either, `rm` \
             it and the game makes the chunk anew"
        }
    }
}
