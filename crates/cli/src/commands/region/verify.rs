//! `verify FILE`.

use hyworld_indexed_storage::IndexedStorageFile;
use hyworld_maintenance::{RegionReport, ScanOptions, verify_region};
use serde_json::{Value, json};

use super::finding;
use super::place::Places;
use super::rebuild;
use crate::args::region::VerifyArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, json, progress, text};

pub(super) fn run(args: &VerifyArgs, console: &mut Console) -> anyhow::Result<Exit> {
    if args.rebuild_index {
        super::look_at(&args.source.file)?;
    }
    let file = super::open(&args.source)?;
    let places = Places::of(&file);
    let bar = progress::bar(console, "checking", file.occupied().len());
    let options = ScanOptions::new().jobs(console.jobs());
    let mut checked = verify_region(&file, &options, &|slots| bar.inc(slots))?;
    bar.finish_and_clear();
    let failed = checked.failed.len();
    checked.failed.drain(..).for_each(|error| exit::complain(&error.into()));
    for finding in &checked.findings {
        if args.json {
            let mut object = finding::object(finding, &places);
            object.shift_insert(0, "type".to_owned(), json!("finding"));
            json::line(console, &Value::Object(object))?;
        } else {
            finding::write(finding, console, &places)?;
        }
    }
    summary(args, console, &file, &checked, failed)?;
    let mut exit = match (failed, checked.findings.is_empty()) {
        (1.., _) => Exit::Failure,
        (0, false) => Exit::Problems,
        (0, true) => Exit::Clean,
    };
    if args.rebuild_index {
        exit = exit.max(rebuild::run(args, console, file)?);
    }
    Ok(exit)
}

fn summary(
    args: &VerifyArgs,
    console: &mut Console,
    file: &IndexedStorageFile,
    checked: &RegionReport,
    failed: usize,
) -> anyhow::Result<()> {
    let RegionReport { slots, whole, sealed, .. } = *checked;
    let findings = checked.findings.len();
    if args.json {
        let object = json!({
            "type": "summary", "checked": slots, "whole": whole, "sealed": sealed,
            "findings": findings, "failed": failed,
        });
        return json::line(console, &object);
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
