//! `info FILE`.

use std::io::Write;
use std::path::{Path, PathBuf};

use hyworld_coords::RegionPos;
use hyworld_indexed_storage::{FormatVersion, IndexedStorageFile, Usage};
use hyworld_maintenance::Finding;
use serde::Serialize;

use super::finding::{self, FindingObject};
use super::slot_names::{SlotKeys, SlotNames};
use crate::args::region::InfoArgs;
use crate::exit::Exit;
use crate::output::json::Position;
use crate::output::{Console, advice, json, text};

pub(super) fn run(args: &InfoArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let file = super::open(&args.source)?;
    let (names, usage) = (SlotNames::of(&file), file.usage()?);
    let damage = file.damage();
    let slots = damage.iter().map(|found| Finding::of_slot(&file, found));
    let findings: Vec<_> = Finding::of_table(&file)?.into_iter().chain(slots).collect();
    let mut report = Report::new(&file, &names, &usage, &findings);
    report.assumed = args.source.assume_geometry.is_some();
    if args.json {
        json::line(console, &report)?;
    } else {
        report.write(console, &file, &names, &usage)?;
        for finding in &findings {
            finding::write(finding, console, &names)?;
        }
    }
    Ok(if findings.is_empty() { Exit::Clean } else { Exit::Problems })
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    file: String,
    version: i32,
    assumed: bool,
    slots: u32,
    segment_bytes: u32,
    region: Option<Position>,
    bytes: Bytes,
    segments: Segments,
    blobs: Blobs,
    damage: Vec<FindingObject<'a>>,
    interrupted: Vec<Interrupted>,
    leftovers: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Bytes {
    file: u64,
    overhead: u64,
    live: u64,
    slack: u64,
    orphaned: u64,
    raw: u64,
}

#[derive(Debug, Serialize)]
struct Segments {
    all: u32,
    used: u32,
}

#[derive(Debug, Serialize)]
struct Blobs {
    all: u32,
    sealed: usize,
}

#[derive(Debug, Serialize)]
struct Interrupted {
    #[serde(flatten)]
    slot: SlotKeys,
    segment: u32,
}

fn sealed(file: &IndexedStorageFile) -> usize {
    let slots = file.occupied().into_iter();
    slots.filter(|&slot| matches!(file.seal(slot), Ok(Some(_)))).count()
}

/// Returns files that an upgrade or rebuild left beside this one.
fn leftovers(path: &Path) -> Vec<String> {
    let beside = |suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let known = [".old", ".index.bak", ".upgrade.tmp", ".compact.tmp"].map(beside);
    let found = known.into_iter().filter(|path| path.exists());
    found.map(|path| path.display().to_string()).collect()
}

impl<'a> Report<'a> {
    fn new(
        file: &IndexedStorageFile,
        names: &SlotNames,
        usage: &Usage,
        findings: &'a [Finding],
    ) -> Self {
        let geometry = file.geometry();
        let interrupted = file.interrupted().iter().map(|write| {
            let (slot, segment) = (names.keys(Some(write.slot)), write.segment.get());
            Interrupted { slot, segment }
        });
        Self {
            file: file.path().display().to_string(),
            version: file.version().number(),
            assumed: false,
            slots: geometry.blob_count(),
            segment_bytes: geometry.segment_bytes(),
            region: names.slots().region().map(Position::from),
            bytes: Bytes {
                file: usage.file_bytes,
                overhead: usage.overhead_bytes,
                live: usage.live_bytes,
                slack: usage.slack_bytes,
                orphaned: usage.orphaned_bytes,
                raw: usage.raw_bytes,
            },
            segments: Segments { all: usage.segment_count, used: usage.used_segment_count },
            blobs: Blobs { all: usage.used_slots, sealed: sealed(file) },
            damage: findings.iter().map(|found| FindingObject::new(found, names)).collect(),
            interrupted: interrupted.collect(),
            leftovers: leftovers(file.path()),
        }
    }

    fn write(
        &self,
        out: &mut impl Write,
        file: &IndexedStorageFile,
        names: &SlotNames,
        usage: &Usage,
    ) -> anyhow::Result<()> {
        writeln!(out, "{}", text::printable(&self.file))?;
        let assumed = if self.assumed { " (assumed; the header was not read)" } else { "" };
        let (version, slots) = (self.version, text::count(self.slots, "slot"));
        let segment = text::thousands(self.segment_bytes);
        writeln!(
            out,
            "  format         version {version}, {slots}, segments of {segment} bytes{assumed}"
        )?;
        if let Some(region) = names.slots().region() {
            writeln!(out, "  region         {}", extent(region))?;
        }
        self.write_usage(out, usage)?;
        for interrupted in file.interrupted() {
            let (name, segment) = (names.name(interrupted.slot), interrupted.segment);
            writeln!(out, "  interrupted    write to {name}; its data is at segment {segment}")?;
        }
        if file.version() == FormatVersion::V0 {
            let upgrade = advice::region("upgrade", file.path(), "");
            writeln!(out, "  note           {upgrade} upgrades it to version 1")?;
        }
        for path in &self.leftovers {
            writeln!(out, "  note           the file {} exists beside it", text::printable(path))?;
        }
        match self.damage.len() {
            0 => {
                let verify = advice::region("verify", file.path(), "");
                writeln!(out, "  damage         none detected; {verify} checks every blob")?;
            }
            count => writeln!(out, "  damage         {}", text::count(count as u64, "finding"))?,
        }
        Ok(())
    }

    fn write_usage(&self, out: &mut impl Write, usage: &Usage) -> anyhow::Result<()> {
        let (used, slots) = (text::thousands(usage.used_slots), text::thousands(self.slots));
        writeln!(out, "  blobs          {used} of {slots} slots, {} sealed", self.blobs.sealed)?;
        if usage.live_bytes > 0 {
            let raw = text::size(usage.raw_bytes);
            let ratio = text::ratio(usage.raw_bytes, usage.live_bytes);
            writeln!(out, "  documents      {raw}, compressed {ratio}")?;
        }
        let (segments, of) = (usage.used_segment_count, usage.segment_count);
        let (segments, of) = (text::thousands(segments), text::count(of, "segment"));
        let all = usage.file_bytes;
        writeln!(out, "  file           {} bytes, {segments} of {of} used", text::thousands(all))?;
        let parts = [
            ("live", usage.live_bytes, "blobs with their headers"),
            ("slack", usage.slack_bytes, "unused ends of the last segments of blobs"),
            ("orphaned", usage.orphaned_bytes, "segments without a slot: see `salvage`"),
            ("overhead", usage.overhead_bytes, "header and index table"),
        ];
        Ok(text::write_parts(out, all, &parts)?)
    }
}

/// Formats a region and the chunks it covers.
fn extent(region: RegionPos) -> String {
    let mut text = format!("{},{}", region.x, region.z);
    if let (Some(first), Some(last)) = (region.first_chunk(), region.last_chunk()) {
        let (x, z) = (format!("{} to {}", first.x, last.x), format!("{} to {}", first.z, last.z));
        text = format!("{text}: chunks x {x}, z {z}");
    }
    text
}
