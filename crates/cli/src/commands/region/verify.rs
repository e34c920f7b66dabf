//! `verify FILE`.

use hyworld_indexed_storage::IndexedStorageFile;
use hyworld_maintenance::{RegionReport, ScanOptions, verify_region};
use serde::Serialize;

use super::finding::{self, FindingObject};
use super::rebuild;
use super::slot_names::SlotNames;
use crate::args::region::VerifyArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, json, progress, text};

pub(super) fn run(args: &VerifyArgs, console: &mut Console) -> anyhow::Result<Exit> {
    if args.rebuild_index {
        super::open_before_change(&args.source.file)?;
    }
    let file = super::open(&args.source)?;
    let names = SlotNames::of(&file);
    let bar = progress::bar(console, "checking", file.occupied().len());
    let options = ScanOptions::new().jobs(console.jobs());
    let mut checked = verify_region(&file, &options, &|slots| bar.inc(slots))?;
    bar.finish_and_clear();
    let failed = checked.failed.len();
    checked.failed.drain(..).for_each(|error| exit::complain(&error.into()));
    for finding in &checked.findings {
        if args.json {
            json::line(console, &Line::Finding(FindingObject::new(finding, &names)))?;
        } else {
            finding::write(finding, console, &names)?;
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
    } else if let Some(geometry) = args.source.assume_geometry.filter(|_| args.rebuild_header) {
        drop(file);
        exit = exit.max(rebuild::header(args, console, geometry)?);
    }
    Ok(exit)
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Finding(FindingObject<'a>),
    Summary { checked: usize, intact: usize, sealed: usize, findings: usize, failed: usize },
}

fn summary(
    args: &VerifyArgs,
    console: &mut Console,
    file: &IndexedStorageFile,
    checked: &RegionReport,
    failed: usize,
) -> anyhow::Result<()> {
    let RegionReport { slots, intact, sealed, .. } = *checked;
    let findings = checked.findings.len();
    if args.json {
        let summary = Line::Summary { checked: slots, intact, sealed, findings, failed };
        return json::line(console, &summary);
    }
    let blobs = text::count(slots as u64, "blob");
    let verdict = match (findings, failed) {
        (0, 0) => "no findings".to_owned(),
        (_, 0) => format!("{intact} intact, {}", text::count(findings as u64, "finding")),
        _ => format!(
            "{intact} intact, {}, {failed} could not be checked",
            text::count(findings as u64, "finding")
        ),
    };
    let name = file.path().display();
    console.report(format_args!("{name}: {blobs} checked, {verdict}; {sealed} sealed"))?;
    Ok(())
}
