//! `verify FILE`.

use hyworld_indexed_storage::{BlobIndex, IndexedStorageFile, Result, SlotDamage, Verified};
use serde_json::{Value, json};

use super::finding::Finding;
use super::place::Places;
use super::rebuild;
use crate::args::region::VerifyArgs;
use crate::commands::parallel;
use crate::exit::{self, Exit};
use crate::output::{Console, json, progress, text};

pub(super) fn run(args: &VerifyArgs, console: &mut Console) -> anyhow::Result<Exit> {
    if args.rebuild_index {
        super::look_at(&args.source.file)?;
    }
    let file = super::open(&args.source)?;
    let places = Places::of(&file);
    let checked = check(&file, console)?;
    for finding in &checked.findings {
        if args.json {
            let mut object = finding.json(&places);
            object.shift_insert(0, "type".to_owned(), json!("finding"));
            json::line(console, &Value::Object(object))?;
        } else {
            finding.write(console, &places)?;
        }
    }
    summary(args, console, &file, &checked)?;
    let mut exit = match (checked.failed, checked.findings.is_empty()) {
        (1.., _) => Exit::Failure,
        (0, false) => Exit::Problems,
        (0, true) => Exit::Clean,
    };
    if args.rebuild_index {
        exit = exit.max(rebuild::run(args, console, file)?);
    }
    Ok(exit)
}

/// What a check of all slots found.
#[derive(Debug, Default)]
struct Checked {
    slots: usize,
    whole: usize,
    sealed: usize,
    findings: Vec<Finding>,
    /// Slots that could not be checked because the operating system failed.
    failed: usize,
}

fn check(file: &IndexedStorageFile, console: &Console) -> anyhow::Result<Checked> {
    let slots = file.occupied();
    let bar = progress::bar(console, "checking", slots.len());
    let results = parallel::map(console.jobs(), &slots, |&slot| {
        let result = file.verify(slot);
        bar.inc(1);
        result
    });
    bar.finish_and_clear();
    let mut checked = Checked {
        slots: slots.len(),
        findings: Finding::of_table(file)?.into_iter().collect(),
        ..Checked::default()
    };
    for (slot, result) in slots.into_iter().zip(results) {
        checked.add(file, slot, result);
    }
    Ok(checked)
}

impl Checked {
    fn add(&mut self, file: &IndexedStorageFile, slot: BlobIndex, result: Result<Verified>) {
        match result {
            Ok(Verified::Whole { seal }) => {
                self.whole = self.whole.saturating_add(1);
                self.sealed = self.sealed.saturating_add(usize::from(seal.is_some()));
            }
            Ok(Verified::Damaged(damage)) => {
                let found = SlotDamage { slot, damage };
                self.findings.push(Finding::of_slot(file, &found));
            }
            // Emptied by another program since the file was opened.
            Ok(_) => self.slots = self.slots.saturating_sub(1),
            Err(error) => {
                exit::complain(&error.into());
                self.failed = self.failed.saturating_add(1);
            }
        }
    }
}

fn summary(
    args: &VerifyArgs,
    console: &mut Console,
    file: &IndexedStorageFile,
    checked: &Checked,
) -> anyhow::Result<()> {
    let Checked { slots, whole, sealed, failed, .. } = *checked;
    let findings = checked.findings.len();
    if args.json {
        let object = json!({
            "type": "summary", "checked": slots, "whole": whole, "sealed": sealed,
            "findings": findings, "failed": failed,
        });
        return Ok(json::line(console, &object)?);
    }
    let blobs = text::count(slots as u64, "blob");
    let verdict = match (findings, failed) {
        (0, 0) => "all whole".to_owned(),
        (_, 0) => format!("{whole} whole, {}", text::count(findings as u64, "finding")),
        _ => format!(
            "{whole} whole, {}, {failed} could not be checked",
            text::count(findings as u64, "finding")
        ),
    };
    let name = file.path().display();
    console.report(format_args!("{name}: {blobs} checked, {verdict}; {sealed} sealed"))?;
    Ok(())
}
