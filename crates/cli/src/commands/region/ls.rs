//! `ls FILE`.

use hyworld_indexed_storage::{BlobStat, Error, Slot};
use hyworld_maintenance::Finding;
use serde::Serialize;

use super::finding;
use super::slot_names::{SlotKeys, SlotNames};
use crate::args::region::LsArgs;
use crate::exit::{self, Exit};
use crate::output::table::Table;
use crate::output::{Console, json, text};

pub(super) fn run(args: &LsArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let file = super::open(&args.source)?;
    let names = SlotNames::of(&file);
    let mut table = table(&names);
    let mut exit = Exit::Clean;
    let (mut blobs, mut raw, mut compressed) = (0_u64, 0_u64, 0_u64);
    for slot in file.occupied() {
        let stat = match file.stat(slot) {
            Ok(Some(stat)) => stat,
            Ok(None) => continue,
            Err(error @ Error::Damaged { .. }) => {
                exit::complain(&error.into());
                exit = Exit::Problems;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if args.json {
            let (slot, segment) = (names.keys(Some(slot)), stat.segment.get());
            let (raw, compressed) = (stat.raw_bytes, stat.compressed_bytes);
            json::line(console, &Line { slot, segment, raw, compressed })?;
        } else {
            table.row(cells(&names, slot, &stat));
        }
        blobs = blobs.saturating_add(1);
        raw = raw.saturating_add(stat.raw_bytes.into());
        compressed = compressed.saturating_add(stat.compressed_bytes.into());
    }
    if !table.is_empty() {
        table.write(console, "")?;
    }
    if !args.json {
        let (blobs, raw, compressed) = (text::count(blobs, "blob"), text::size(raw), compressed);
        let compressed = text::size(compressed);
        console.say(format_args!("{blobs}, {raw} of documents stored in {compressed}"))?;
    }
    if let Some(finding) = Finding::of_table(&file)? {
        exit::complain(&finding::problem(&finding, file.path()));
        exit = Exit::Problems;
    }
    Ok(exit)
}

/// Other tools depend on these keys and their order.
#[derive(Debug, Serialize)]
struct Line {
    #[serde(flatten)]
    slot: SlotKeys,
    segment: u32,
    raw: u32,
    compressed: u32,
}

fn table(names: &SlotNames) -> Table {
    let chunk = if names.slots().region().is_some() { "|chunk" } else { "" };
    Table::new(&format!(">slot|>x|>z|>segment|>count|>raw|>compressed|>ratio{chunk}"))
}

fn cells(names: &SlotNames, slot: Slot, stat: &BlobStat) -> Vec<String> {
    let (raw, compressed) = (stat.raw_bytes, stat.compressed_bytes);
    let mut cells = names.cells(Some(slot)).to_vec();
    cells.extend([
        stat.segment.to_string(),
        stat.segment_count.to_string(),
        text::thousands(raw),
        text::thousands(compressed),
        text::ratio(raw.into(), compressed.into()),
    ]);
    if let Some(chunk) = names.slots().chunk(slot) {
        cells.push(format!("{},{}", chunk.x, chunk.z));
    }
    cells
}
