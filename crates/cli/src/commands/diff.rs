//! `diff OLD NEW`: what changed between two worlds.

mod show;

use std::path::Path;

use hyworld::{FileDiff, Location, diff_files};
use hyworld_maintenance::{
    ChunkDiff, ChunkSet, DiffOptions, DiffReport, Finding, Manifest, ScanOptions, diff,
    diff_manifests,
};
use serde::Serialize;

use super::select;
use crate::args::change::DiffArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, json};

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Chunk(&'a ChunkDiff),
    File(&'a FileDiff),
    Summary {
        equal: bool,
        #[serde(flatten)]
        report: &'a DiffReport,
        files: u64,
    },
}

pub(super) fn run(args: &DiffArgs, console: &mut Console) -> anyhow::Result<Exit> {
    if let (Some(first), Some(second)) = (manifest(&args.first), manifest(&args.second)) {
        return of_manifests(args, &first?, &second?, console);
    }
    let (first, second) = (Location::source(&args.first)?, Location::source(&args.second)?);
    let storages = (first.open()?, second.open()?);
    let (chosen, mut exit) = match select::chosen(&args.selection, &second)? {
        None => (None, Exit::Clean),
        Some(selection) => {
            let (mut chunks, exit) = select::chunks(&selection, &*storages.1, console);
            let (others, more) = select::chunks(&selection, &*storages.0, console);
            chunks.add(&others);
            (Some(chunks), exit.max(more))
        }
    };
    let wanted = DiffOptions { chunks: chosen.as_ref(), cells: args.blocks };
    let options = ScanOptions::new().jobs(console.jobs());
    let mut output = Output::new(args);
    let mut written = Ok(());
    let mut each = |chunk: &ChunkDiff| {
        if written.is_ok() {
            written = output.add(chunk, console);
        }
    };
    let mut found = |finding: &Finding| {
        let at = finding.chunk.map(|at| format!("chunk {},{} is not compared: ", at.x, at.z));
        exit::complain(&exit::problem(format!("{}{}", at.unwrap_or_default(), finding.message)));
        exit = Exit::Problems;
    };
    // A progress bar would be drawn between the lines.
    let bar = hyworld_maintenance::NoProgress;
    let both = (&*storages.0, &*storages.1);
    let report = diff(both, wanted, &options, &mut each, &mut found, &bar);
    written?;
    let files = files(args, &first, &second, console)?;
    output.finish(&report, &files, console)?;
    let is_equal = report.is_equal() && files.is_empty();
    Ok(if is_equal { exit } else { exit.max(Exit::Problems) })
}

/// Compares the files beside the chunks, if both are worlds.
fn files(
    args: &DiffArgs,
    first: &Location,
    second: &Location,
    console: &mut Console,
) -> anyhow::Result<Vec<FileDiff>> {
    let is_part = args.selection.select.is_some() || args.selection.query_file.is_some();
    if args.chunks_only || is_part {
        return Ok(Vec::new());
    }
    if let Some(found) = diff_files(first, second)? {
        return Ok(found);
    }
    if first.world_folder().is_some() || second.world_folder().is_some() {
        console.say(format_args!("note: only chunks are compared, because one is not a world"))?;
    }
    Ok(Vec::new())
}

/// Reads a manifest; `None` if the file is something else.
fn manifest(path: &Path) -> Option<anyhow::Result<Manifest>> {
    let is_chunks =
        |end: &std::ffi::OsStr| end.eq_ignore_ascii_case("bin") || end.eq_ignore_ascii_case("zip");
    if !path.is_file() || path.extension().is_some_and(is_chunks) {
        return None;
    }
    Some(Manifest::read(path).map_err(Into::into))
}

fn of_manifests(
    args: &DiffArgs,
    first: &Manifest,
    second: &Manifest,
    console: &mut Console,
) -> anyhow::Result<Exit> {
    let mut output = Output::new(args);
    let mut written = Ok(());
    let mut each = |chunk: &ChunkDiff| {
        if written.is_ok() {
            written = output.add(chunk, console);
        }
    };
    let report = diff_manifests(first, second, DiffOptions::default(), &mut each);
    written?;
    output.finish(&report, &[], console)?;
    Ok(if report.is_equal() { Exit::Clean } else { Exit::Problems })
}

/// Prints differences, and collects the chunks for `--csv` and `--geojson`.
struct Output<'a> {
    args: &'a DiffArgs,
    chunks: ChunkSet,
    shown: u64,
}

impl<'a> Output<'a> {
    fn new(args: &'a DiffArgs) -> Self {
        Self { args, chunks: ChunkSet::new(), shown: 0 }
    }

    fn add(&mut self, chunk: &ChunkDiff, console: &mut Console) -> anyhow::Result<()> {
        self.chunks.insert(chunk.at());
        if self.args.json {
            return json::line(console, &Line::Chunk(chunk));
        }
        if self.args.csv || self.args.geojson {
            return Ok(());
        }
        self.shown = self.shown.saturating_add(1);
        show::chunk(console, chunk, self.args, self.shown)
    }

    fn finish(
        self,
        report: &DiffReport,
        files: &[FileDiff],
        console: &mut Console,
    ) -> anyhow::Result<()> {
        if self.args.csv {
            return select::write_csv(console, &self.chunks);
        }
        if self.args.geojson {
            return select::write_geojson(console, &self.chunks);
        }
        if !self.args.json {
            return show::summary(console, report, files, self.shown, self.args);
        }
        for file in files {
            json::line(console, &Line::File(file))?;
        }
        let equal = report.is_equal() && files.is_empty();
        json::line(console, &Line::Summary { equal, report, files: files.len() as u64 })
    }
}
