//! Formats findings about a region file for `info` and `verify`.

use std::io::{self, Write};
use std::path::Path;

use hyworld_indexed_storage::SlotDamage;
use hyworld_maintenance::{Finding, Severity};
use serde::Serialize;

use super::slot_names::{SlotKeys, SlotNames};
use crate::exit;
use crate::output::{advice, text};

/// Converts a finding to a one-line error.
pub(super) fn problem(finding: &Finding, path: &Path) -> anyhow::Error {
    exit::problem(format!("{}: {}", path.display(), finding.message))
}

/// Writes a finding: location and class, message, advice.
pub(super) fn write(finding: &Finding, out: &mut impl Write, names: &SlotNames) -> io::Result<()> {
    let location = match finding.slot {
        Some(slot) => names.name(slot),
        None => "index table".to_owned(),
    };
    let offset = finding.offset.unwrap_or_default();
    writeln!(out, "{location}: {} at byte {offset}", finding.class)?;
    for sentence in [finding.message.clone(), advice::words(finding, None)] {
        writeln!(out, "{}", text::wrap(&sentence, "    ", text::WIDTH))?;
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
    advice: String,
}

impl<'a> FindingObject<'a> {
    pub(super) fn new(finding: &'a Finding, names: &SlotNames) -> Self {
        Self {
            slot: names.keys(finding.slot),
            class: finding.class.name(),
            offset: finding.offset,
            readable: finding.severity == Severity::Warning,
            message: &finding.message,
            advice: advice::words(finding, None),
        }
    }
}

/// A damaged slot in the JSON of verbs that change a file.
#[derive(Debug, Serialize)]
pub(super) struct DamageObject<'a> {
    #[serde(flatten)]
    slot: SlotKeys,
    class: &'static str,
    message: &'a str,
}

impl<'a> DamageObject<'a> {
    pub(super) fn all(names: &SlotNames, findings: &'a [Finding]) -> Vec<Self> {
        let object = |found: &'a Finding| Self {
            slot: names.keys(found.slot),
            class: found.class.name(),
            message: &found.message,
        };
        findings.iter().map(object).collect()
    }
}

/// Converts the damaged slots of a report to findings.
pub(super) fn of_damage(path: &Path, names: &SlotNames, damaged: &[SlotDamage]) -> Vec<Finding> {
    damaged.iter().map(|found| Finding::of_damage(path, names.slots(), found)).collect()
}

/// Writes one line per damaged slot.
pub(super) fn write_damage(
    out: &mut impl Write,
    names: &SlotNames,
    findings: &[Finding],
) -> io::Result<()> {
    for found in findings {
        let name = found.slot.map(|slot| names.name(slot)).unwrap_or_default();
        writeln!(out, "  {name}: {}: {}", found.class, found.message)?;
    }
    Ok(())
}
