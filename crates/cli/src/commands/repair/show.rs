//! The plan and the result of a repair, as text and as JSON.

use std::collections::BTreeSet;
use std::path::Path;

use hyworld::{FileRemedy, Repair, RepairOutcome, SameWorld, SourceInfo};
use hyworld_maintenance::{
    ChunkRepair, OlderVersion, OrphanPosition, PositionEvidence, RegionRepair, Remedy,
};
use serde::Serialize;

use crate::args::health::RepairArgs;
use crate::output::table::Table;
use crate::output::{Console, json, text};

/// How many chunks of a plan are printed; `--json` prints all.
const SHOWN: usize = 40;

/// The maximum width of a cell.
const CELL_WIDTH: usize = 60;

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Source {
        name: &'a str,
        used: bool,
        lacking: u64,
        reason: String,
        time: Option<String>,
    },
    Region {
        file: String,
        action: &'static str,
    },
    Chunk {
        x: i32,
        z: i32,
        classes: Vec<&'static str>,
        remedy: &'static str,
        source: Option<String>,
        lost: Vec<String>,
        uncertain: Option<String>,
    },
    File {
        file: String,
        reason: &'a str,
        remedy: &'static str,
        source: Option<&'a str>,
    },
    Left {
        class: &'static str,
        message: String,
        reason: &'static str,
    },
    Summary {
        applied: bool,
        repaired: u64,
        removed: u64,
        regions: u64,
        files: u64,
        left: u64,
        failed: u64,
        bundle: Option<String>,
    },
}

/// Prints the sources, the damaged chunks with their remedies, and the other files.
pub(super) fn plan(
    args: &RepairArgs,
    plan: &Repair,
    world: Option<&str>,
    console: &mut Console,
) -> anyhow::Result<()> {
    if args.json {
        return plan_json(plan, console);
    }
    if let Some(world) = world {
        console.report(format_args!("world {world}"))?;
    }
    for source in &plan.sources {
        let verdict = if source.same_world.is_accepted() { "source" } else { "refused" };
        let (name, reason) = (&source.name, same_world(source.same_world));
        let time = source.time_ms.map(|time| format!(", {}", text::time(time))).unwrap_or_default();
        console.report(format_args!("{verdict}: {name}{time} ({reason})"))?;
        for error in &source.unlisted {
            console.report(format_args!("  its chunks there are not used: {error}"))?;
        }
        if source.lacking > 0 {
            let chunks = text::count(source.lacking, "chunk");
            console.report(format_args!(
                "  it has {chunks} that the world lacks; `hyworld restore` restores them"
            ))?;
        }
    }
    for error in &plan.failed_sources {
        console.report(format_args!("refused: {error}"))?;
    }
    for (path, repair) in &plan.plan.regions {
        console.report(format_args!("{}: {}", path.display(), region_words(*repair)))?;
    }
    chunk_table(plan, console)?;
    for file in &plan.files {
        let words = match &file.remedy {
            FileRemedy::Backup { .. } => "replace it by its backup, NAME.bak".to_owned(),
            FileRemedy::Copy { source, .. } => format!("replace it by the copy in {source}"),
            FileRemedy::Quarantine => "move it into the undo bundle".to_owned(),
        };
        console.report(format_args!("{}: {}: {words}", file.path.display(), file.reason))?;
    }
    for (finding, reason) in &plan.plan.left {
        console.report(format_args!("left as it is: {finding} ({reason})"))?;
    }
    Ok(())
}

fn chunk_table(plan: &Repair, console: &mut Console) -> anyhow::Result<()> {
    let mut table = Table::new(">x|>z|damage|remedy|what is lost");
    for chunk in plan.plan.chunks.iter().take(SHOWN) {
        let short = |words: &str| text::short(words, CELL_WIDTH);
        let (remedy, lost) = (remedy_words(plan, chunk), lost_words(plan, chunk));
        let classes = classes(chunk).join(", ");
        let (x, z) = (chunk.at.x.to_string(), chunk.at.z.to_string());
        table.row([x, z, short(&classes), short(&remedy), short(&lost)]);
    }
    if !table.is_empty() {
        table.write(console, "")?;
    }
    let uncertain = plan.plan.chunks.iter().filter(|chunk| chunk.uncertain.is_some()).count();
    if uncertain > 0 {
        let chunks = text::count(uncertain as u64, "chunk");
        console.report(format_args!(
            "an older version of {chunks} may be in the region file, but it is not certain that it \
             belongs there; --confidence medium uses it, --json shows the evidence"
        ))?;
    }
    if let more @ 1.. = plan.plan.chunks.len().saturating_sub(SHOWN) {
        console.report(format_args!("and {more} more chunks; --json has them all"))?;
    }
    Ok(())
}

fn plan_json(plan: &Repair, console: &mut Console) -> anyhow::Result<()> {
    for source in &plan.sources {
        let line = Line::Source {
            name: &source.name,
            used: source.same_world.is_accepted(),
            lacking: source.lacking,
            reason: same_world(source.same_world),
            time: source.time_ms.map(text::time),
        };
        json::line(console, &line)?;
    }
    for (path, repair) in &plan.plan.regions {
        let action = match repair {
            RegionRepair::Header(_) => "header",
            RegionRepair::Table => "table",
            RegionRepair::Quarantine => "quarantine",
        };
        json::line(console, &Line::Region { file: path.display().to_string(), action })?;
    }
    for chunk in &plan.plan.chunks {
        json::line(console, &chunk_line(plan, chunk))?;
    }
    for file in &plan.files {
        let (remedy, source) = match &file.remedy {
            FileRemedy::Backup { .. } => ("backup", None),
            FileRemedy::Copy { source, .. } => ("copy", Some(source.as_str())),
            FileRemedy::Quarantine => ("quarantine", None),
        };
        let (file, reason) = (file.path.display().to_string(), file.reason.as_str());
        json::line(console, &Line::File { file, reason, remedy, source })?;
    }
    for (finding, reason) in &plan.plan.left {
        let (class, message) = (finding.class.name(), finding.to_string());
        json::line(console, &Line::Left { class, message, reason })?;
    }
    Ok(())
}

fn chunk_line<'a>(plan: &Repair, chunk: &ChunkRepair) -> Line<'a> {
    let (remedy, lost) = match &chunk.remedy {
        Remedy::OwnBlob(_) | Remedy::OwnDocument => ("own", Vec::new()),
        Remedy::Copy(_) => ("copy", Vec::new()),
        Remedy::Older(_) => ("older", Vec::new()),
        Remedy::Mended { lost } => ("mended", lost.clone()),
        Remedy::Remove => ("remove", vec!["the chunk".to_owned()]),
        Remedy::Leave => ("leave", Vec::new()),
    };
    let source = match &chunk.remedy {
        Remedy::Copy(index) => accepted(plan, *index).map(|source| source.name.clone()),
        Remedy::Older(older) => Some(older_words(older)),
        _ => None,
    };
    let (x, z) = (chunk.at.x, chunk.at.z);
    let uncertain = chunk.uncertain.map(|older| older_words(&older));
    Line::Chunk { x, z, classes: classes(chunk), remedy, source, lost, uncertain }
}

/// Prints what was done.
pub(super) fn summary(
    args: &RepairArgs,
    done: Option<(&RepairOutcome, Option<&Path>)>,
    left: u64,
    console: &mut Console,
) -> anyhow::Result<()> {
    let bundle = done.and_then(|(_, bundle)| bundle);
    let done = done.map(|(done, _)| done);
    if args.json {
        let chunks = done.map(|done| done.chunks.clone()).unwrap_or_default();
        let line = Line::Summary {
            applied: done.is_some(),
            repaired: chunks.repaired,
            removed: chunks.removed,
            regions: chunks.regions,
            files: done.map_or(0, |done| done.files),
            left,
            failed: chunks.findings.total(),
            bundle: bundle.map(|path| path.display().to_string()),
        };
        return json::line(console, &line);
    }
    let Some(done) = done else { return Ok(()) };
    let chunks = &done.chunks;
    console.report(format_args!(
        "{} repaired, {} removed, {} and {} repaired",
        text::count(chunks.repaired, "chunk"),
        text::thousands(chunks.removed),
        text::count(chunks.regions, "region file"),
        text::count(done.files, "other file"),
    ))?;
    super::super::undo::advise(bundle, console)
}

fn classes(chunk: &ChunkRepair) -> Vec<&'static str> {
    let classes: BTreeSet<_> = chunk.findings.iter().map(|found| found.class.name()).collect();
    classes.into_iter().collect()
}

fn accepted(plan: &Repair, index: usize) -> Option<&SourceInfo> {
    plan.sources.iter().filter(|source| source.same_world.is_accepted()).nth(index)
}

fn remedy_words(plan: &Repair, chunk: &ChunkRepair) -> String {
    match &chunk.remedy {
        Remedy::OwnBlob(_) | Remedy::OwnDocument => "write it again, it is intact".to_owned(),
        Remedy::Copy(index) => {
            let name = accepted(plan, *index).map_or("", |source| source.name.as_str());
            format!("copy from {}", source_name(name))
        }
        Remedy::Older(older) => format!("older version, {}", older_words(older)),
        Remedy::Mended { lost } if lost.is_empty() => "correct its counts".to_owned(),
        Remedy::Mended { .. } => "keep what can be decoded".to_owned(),
        Remedy::Remove => "remove it; the game generates it again".to_owned(),
        Remedy::Leave => "leave it as it is".to_owned(),
    }
}

/// Shortens the name of a source to the name of the zip, the world or the region file.
fn source_name(name: &str) -> String {
    let is_zip = |path: &&Path| path.extension().is_some_and(|end| end == "zip");
    let is_named = |path: &&Path| path.file_name().is_some_and(|last| last != "chunks");
    let path = Path::new(name);
    let named = path.ancestors().find(is_zip).or_else(|| path.ancestors().find(is_named));
    let path = named.unwrap_or(path);
    path.file_name().map_or_else(|| name.to_owned(), |last| last.to_string_lossy().into_owned())
}

fn lost_words(plan: &Repair, chunk: &ChunkRepair) -> String {
    match &chunk.remedy {
        Remedy::OwnBlob(_) | Remedy::OwnDocument | Remedy::Leave => "nothing".to_owned(),
        Remedy::Copy(index) => match accepted(plan, *index).and_then(|source| source.time_ms) {
            Some(time) => format!("changes since {}", text::time(time)),
            None => "changes since the copy".to_owned(),
        },
        Remedy::Older(_) => "the changes of the last save".to_owned(),
        Remedy::Mended { lost } if lost.is_empty() => "nothing".to_owned(),
        Remedy::Mended { lost } => lost.join(", "),
        Remedy::Remove => "the chunk, kept in the undo bundle".to_owned(),
    }
}

/// Describes how the position of an older version was determined, and how certain it is.
pub(in crate::commands) fn evidence_words(position: &OrphanPosition) -> String {
    let how = match position.evidence {
        PositionEvidence::Seal => "by its seal".to_owned(),
        PositionEvidence::SameDocument => "equal to the stored chunk".to_owned(),
        PositionEvidence::Coordinates { agreeing, total } => {
            format!("{agreeing} of {total} coordinates in it")
        }
        PositionEvidence::OtherVersion { shared, next_best, .. } => format!(
            "{} that no other chunk has, next best {}",
            text::count(shared, "part"),
            text::thousands(next_best)
        ),
        PositionEvidence::Neighbours { score, next_best, sides, .. } => format!(
            "fits {} by {:.0} %, next best {:.0} %",
            text::count(sides, "neighbour"),
            score * 100.0,
            next_best * 100.0
        ),
        _ => "by other evidence".to_owned(),
    };
    format!("{} ({how})", position.confidence.name())
}

fn older_words(older: &OlderVersion) -> String {
    format!("segment {}, {}", older.segment.get(), evidence_words(&older.position))
}

fn region_words(repair: RegionRepair) -> String {
    match repair {
        RegionRepair::Header(geometry) => format!("write its header again, for {geometry}"),
        RegionRepair::Table => "extend it to the end of its index table".to_owned(),
        RegionRepair::Quarantine => {
            "nothing of it can be read: move it into the undo bundle".to_owned()
        }
    }
}

/// Returns why a source is used or rejected.
pub(in crate::commands) fn same_world(verdict: SameWorld) -> String {
    match verdict {
        SameWorld::Uuid => "the same world".to_owned(),
        SameWorld::Edges(percent) => format!("its chunks fit, agreement {percent} %"),
        SameWorld::Trusted => "trusted".to_owned(),
        SameWorld::OtherUuid => {
            "another world: its UUID differs; add --trust-source to use it anyway".to_owned()
        }
        SameWorld::OtherEdges(percent) => format!(
            "another world: its chunks do not fit, agreement {percent} %; \
             add --trust-source to use it anyway"
        ),
        _ => "not known to be the same world; add --trust-source to use it anyway".to_owned(),
    }
}
