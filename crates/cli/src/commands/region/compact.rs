//! `compact FILE`.

use hyworld_indexed_storage::{
    BLOB_HEADER_BYTES, CompactOptions, CompactReport, Error, IndexedStorageFile, SlotDamage,
    compact,
};
use hyworld_world::{ServerCheck, WritePermit};
use serde_json::json;

use super::finding::{damage_json, write_damage};
use super::place::Places;
use crate::args::region::CompactArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, json, progress, text};

pub(super) fn run(args: &CompactArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let file = super::look_at(&args.file)?;
    let places = Places::of(&file);
    let done = if args.dry_run {
        let expected = expected(&file)?;
        if !expected.dropped.is_empty() && !args.drop_damaged {
            return Err(would_drop(&Error::WouldDropDamaged {
                path: args.file.clone(),
                damaged: expected.dropped.len(),
            }));
        }
        expected
    } else {
        drop(file);
        // No --force here: a program that has the file open would go on writing the old one.
        let _permit = WritePermit::of_storage(&args.file, ServerCheck::Refuse)?;
        let options = CompactOptions { drop_damaged: args.drop_damaged };
        let spinner = progress::spinner(console, "compacting");
        let done = compact(&args.file, options);
        spinner.finish_and_clear();
        done.map_err(|error| match error {
            Error::WouldDropDamaged { .. } => would_drop(&error),
            other => other.into(),
        })?
    };
    report(args, console, &places, &done)?;
    Ok(Exit::Clean)
}

fn would_drop(error: &Error) -> anyhow::Error {
    exit::advise(error, "`info` names them, --drop-damaged goes on without them")
}

/// What compacting would do. Blobs follow each other in slot order, and the last one is not
/// filled up to the end of its segment.
fn expected(file: &IndexedStorageFile) -> anyhow::Result<CompactReport> {
    let geometry = file.geometry();
    let bytes_before = file.file_bytes()?;
    let mut report = CompactReport {
        bytes_before,
        bytes_after: geometry.segments_offset(),
        blobs: 0,
        dropped: Vec::new(),
    };
    let mut segments = 0_u64;
    for slot in file.occupied() {
        match file.stat(slot) {
            Ok(None) => {}
            Ok(Some(stat)) => {
                let len = u64::from(stat.compressed_bytes) + u64::from(BLOB_HEADER_BYTES);
                report.bytes_after = segments
                    .saturating_mul(geometry.segment_bytes().into())
                    .saturating_add(geometry.segments_offset())
                    .saturating_add(len);
                segments = segments.saturating_add(stat.segment_count.into());
                report.blobs = report.blobs.saturating_add(1);
            }
            Err(Error::Damaged { damage, .. }) => report.dropped.push(SlotDamage { slot, damage }),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(report)
}

fn report(
    args: &CompactArgs,
    console: &mut Console,
    places: &Places,
    done: &CompactReport,
) -> anyhow::Result<()> {
    let (before, after) = (done.bytes_before, done.bytes_after);
    if args.json {
        let object = json!({
            "before": before, "after": after, "blobs": done.blobs,
            "dropped": damage_json(places, &done.dropped), "dry_run": args.dry_run,
        });
        return Ok(json::line(console, &object)?);
    }
    let name = args.file.display();
    let saved = text::percent(before.saturating_sub(after), before);
    let (before, after) = (text::thousands(before), text::thousands(after));
    let verb = if args.dry_run { "would be" } else { "is now" };
    let blobs = text::count(done.blobs, "blob");
    console.report(format_args!(
        "{name} {verb} {after} bytes, was {before} ({saved} less), with {blobs}"
    ))?;
    if !done.dropped.is_empty() && !console.is_quiet() {
        let slots = text::count(done.dropped.len() as u64, "damaged slot");
        let verb = if args.dry_run { "would be" } else { "were" };
        console.report(format_args!("{slots} {verb} dropped:"))?;
        write_damage(console, places, &done.dropped)?;
    }
    Ok(())
}
