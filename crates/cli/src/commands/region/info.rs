//! `info FILE`.

use std::io::Write;
use std::path::{Path, PathBuf};

use hyworld_coords::RegionPos;
use hyworld_indexed_storage::{FormatVersion, IndexedStorageFile, Usage};
use hyworld_maintenance::Finding;
use serde::Serialize;

use super::finding::{self, FindingObject};
use super::place::{Places, SlotKeys};
use crate::args::region::InfoArgs;
use crate::exit::Exit;
use crate::output::json::Position;
use crate::output::{Console, json, text};

pub(super) fn run(args: &InfoArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let file = super::open(&args.source)?;
    let info = Info {
        places: Places::of(&file),
        usage: file.usage()?,
        sealed: sealed(&file),
        findings: findings(&file)?,
        leftovers: leftovers(&args.source.file),
        is_assumed: args.source.assume_geometry.is_some(),
        file: &file,
    };
    if args.json {
        json::line(console, &info.report())?;
    } else {
        info.write(console)?;
    }
    let is_clean = info.findings.is_empty();
    Ok(if is_clean { Exit::Clean } else { Exit::Problems })
}

struct Info<'a> {
    file: &'a IndexedStorageFile,
    places: Places,
    usage: Usage,
    sealed: usize,
    findings: Vec<Finding>,
    leftovers: Vec<PathBuf>,
    is_assumed: bool,
}

fn sealed(file: &IndexedStorageFile) -> usize {
    let slots = file.occupied().into_iter();
    slots.filter(|&slot| matches!(file.seal(slot), Ok(Some(_)))).count()
}

fn findings(file: &IndexedStorageFile) -> anyhow::Result<Vec<Finding>> {
    let damage = file.damage();
    let slots = damage.iter().map(|found| Finding::of_slot(file, found));
    Ok(Finding::of_table(file)?.into_iter().chain(slots).collect())
}

/// Files that an upgrade or a rebuild leaves beside this one.
fn leftovers(path: &Path) -> Vec<PathBuf> {
    let beside = |suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let known = [".old", ".index.bak", ".upgrade.tmp", ".compact.tmp"].map(beside);
    known.into_iter().filter(|path| path.exists()).collect()
}

impl Info<'_> {
    fn write(&self, out: &mut impl Write) -> anyhow::Result<()> {
        writeln!(out, "{}", name(self.file.path()))?;
        self.write_header(out)?;
        self.write_usage(out)?;
        for interrupted in self.file.interrupted() {
            let name = self.places.name(interrupted.slot);
            let segment = interrupted.segment;
            writeln!(out, "  interrupted    write to {name}; left over at segment {segment}")?;
        }
        if self.file.version() == FormatVersion::V0 {
            writeln!(out, "  note           `hyworld region upgrade` brings it to version 1")?;
        }
        for path in &self.leftovers {
            writeln!(out, "  note           {} is beside it", name(path))?;
        }
        match self.findings.len() {
            0 => writeln!(out, "  damage         none seen; `verify` decodes every blob")?,
            count => writeln!(out, "  damage         {}", text::count(count as u64, "finding"))?,
        }
        for finding in &self.findings {
            finding::write(finding, out, &self.places)?;
        }
        Ok(())
    }

    fn write_header(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let geometry = self.file.geometry();
        let version = self.file.version().number();
        let assumed = if self.is_assumed { " (assumed; the header was not read)" } else { "" };
        let slots = text::count(geometry.blob_count(), "slot");
        let segment = text::thousands(geometry.segment_bytes());
        writeln!(
            out,
            "  format         version {version}, {slots}, segments of {segment} bytes{assumed}"
        )?;
        if let Some(region) = self.places.slots().region() {
            writeln!(out, "  region         {}", extent(region))?;
        }
        Ok(())
    }

    fn write_usage(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let usage = &self.usage;
        let slots = self.file.geometry().blob_count();
        let (used, sealed) = (text::thousands(usage.used_slots), self.sealed);
        writeln!(
            out,
            "  blobs          {used} of {} slots, {sealed} sealed",
            text::thousands(slots)
        )?;
        let raw = text::size(usage.raw_bytes);
        let ratio = text::ratio(usage.raw_bytes, usage.live_bytes);
        if usage.live_bytes > 0 {
            writeln!(out, "  content        {raw}, compressed {ratio}")?;
        }
        let (segments, of) = (usage.used_segment_count, usage.segment_count);
        let (segments, of) = (text::thousands(segments), text::count(of, "segment"));
        let all = usage.file_bytes;
        writeln!(out, "  file           {} bytes, {segments} of {of} used", text::thousands(all))?;
        let parts = [
            ("live", usage.live_bytes, "blobs with their headers"),
            ("slack", usage.slack_bytes, "rest of the last segments of blobs"),
            ("unreferenced", usage.unreferenced_bytes, "segments of no slot: see `salvage`"),
            ("overhead", usage.overhead_bytes, "header and index table"),
        ];
        Ok(text::write_parts(out, all, &parts)?)
    }

    fn report(&self) -> Report<'_> {
        let (geometry, usage) = (self.file.geometry(), &self.usage);
        let findings = self.findings.iter();
        let interrupted = self.file.interrupted().iter();
        let leftovers = self.leftovers.iter();
        Report {
            file: self.file.path().display().to_string(),
            version: self.file.version().number(),
            assumed: self.is_assumed,
            slots: geometry.blob_count(),
            segment_bytes: geometry.segment_bytes(),
            region: self.places.slots().region().map(Position::from),
            bytes: Bytes {
                file: usage.file_bytes,
                overhead: usage.overhead_bytes,
                live: usage.live_bytes,
                slack: usage.slack_bytes,
                unreferenced: usage.unreferenced_bytes,
                raw: usage.raw_bytes,
            },
            segments: Segments { all: usage.segment_count, used: usage.used_segment_count },
            blobs: Blobs { all: usage.used_slots, sealed: self.sealed },
            damage: findings.map(|found| FindingObject::new(found, &self.places)).collect(),
            interrupted: interrupted
                .map(|write| {
                    let (slot, segment) = (self.places.keys(Some(write.slot)), write.segment.get());
                    Interrupted { slot, segment }
                })
                .collect(),
            leftovers: leftovers.map(|path| path.display().to_string()).collect(),
        }
    }
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
    unreferenced: u64,
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

fn name(path: &Path) -> String {
    text::printable(&path.display().to_string())
}

/// Where a region is in the world.
fn extent(region: RegionPos) -> String {
    let mut text = format!("{},{}", region.x, region.z);
    if let (Some(first), Some(last)) = (region.first_chunk(), region.last_chunk()) {
        let (x, z) = (format!("{} to {}", first.x, last.x), format!("{} to {}", first.z, last.z));
        text = format!("{text}: chunks x {x}, z {z}");
    }
    text
}
