//! Findings about a region file, in the form in which `info` and `verify` show them.

use std::io::{self, Write};
use std::path::Path;

use hyworld_indexed_storage::SlotDamage;
use hyworld_maintenance::{Finding, Severity};
use serde::Serialize;

use super::place::{Places, SlotKeys};
use crate::exit;
use crate::output::{advice, text};

/// Sentences are broken to fit a terminal of the usual width.
const WIDTH: usize = 80;

fn advice_of(finding: &Finding) -> &'static str {
    finding.advice.map_or("", advice::words)
}

/// The finding in the one line of an error.
pub(super) fn problem(finding: &Finding, path: &Path) -> anyhow::Error {
    exit::problem(format!("{}: {}", path.display(), finding.message))
}

/// The finding in three lines.
pub(super) fn write(finding: &Finding, out: &mut impl Write, places: &Places) -> io::Result<()> {
    let place = match finding.slot {
        Some(slot) => places.name(slot),
        None => "index table".to_owned(),
    };
    let offset = finding.offset.unwrap_or_default();
    writeln!(out, "{place}: {} at byte {offset}", finding.class)?;
    for sentence in [finding.message.as_str(), advice_of(finding)] {
        writeln!(out, "{}", text::wrap(sentence, "    ", WIDTH))?;
    }
    Ok(())
}

/// A finding in the JSON of `info` and `verify`.
#[derive(Debug, Serialize)]
pub(super) struct FindingObject<'a> {
    #[serde(flatten)]
    slot: SlotKeys,
    class: &'static str,
    offset: Option<u64>,
    readable: bool,
    message: &'a str,
    advice: &'static str,
}

impl<'a> FindingObject<'a> {
    pub(super) fn new(finding: &'a Finding, places: &Places) -> Self {
        Self {
            slot: places.keys(finding.slot),
            class: finding.class.name(),
            offset: finding.offset,
            readable: finding.severity == Severity::Warning,
            message: &finding.message,
            advice: advice_of(finding),
        }
    }
}

/// A damaged slot in the JSON of verbs that change a file.
#[derive(Debug, Serialize)]
pub(super) struct DamageObject {
    #[serde(flatten)]
    slot: SlotKeys,
    class: &'static str,
    message: String,
}

impl DamageObject {
    pub(super) fn all(places: &Places, damaged: &[SlotDamage]) -> Vec<Self> {
        let object = |found: &SlotDamage| Self {
            slot: places.keys(Some(found.slot)),
            class: found.damage.class(),
            message: found.damage.to_string(),
        };
        damaged.iter().map(object).collect()
    }
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
