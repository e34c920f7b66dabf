//! Findings about a region file, in the form in which `info` and `verify` show them.

use std::io::{self, Write};
use std::path::Path;

use hyworld_indexed_storage::SlotDamage;
use hyworld_maintenance::{Finding, Severity};
use serde_json::{Map, Value, json};

use super::place::Places;
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

pub(super) fn object(finding: &Finding, places: &Places) -> Map<String, Value> {
    let [slot, x, z] = places.json(finding.slot);
    let fields = [
        ("slot", slot),
        ("x", x),
        ("z", z),
        ("class", json!(finding.class.name())),
        ("offset", json!(finding.offset)),
        ("readable", json!(finding.severity == Severity::Warning)),
        ("message", json!(finding.message)),
        ("advice", json!(advice_of(finding))),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
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
