//! `restore WORLD --from BACKUP`: restores chosen chunks, players and files.

use std::path::Path;

use hyworld::{Restore, RestoreAction, RestoreOptions, RestoreReport, open_for_check};
use serde::Serialize;

use super::changing;
use crate::args::health::RestoreArgs;
use crate::exit::{self, Exit};
use crate::output::progress::ChunkProgress;
use crate::output::table::Table;
use crate::output::{Console, json, text};

/// How many chunks of a plan are printed; `--json` prints all.
const SHOWN: usize = 40;

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Chunk {
        x: i32,
        z: i32,
        action: &'static str,
    },
    File {
        file: String,
        equal: bool,
    },
    Summary {
        source: &'a str,
        applied: bool,
        restored: u64,
        removed: u64,
        files: u64,
        bundle: Option<String>,
    },
}

pub(super) fn run(args: &RestoreArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let options = RestoreOptions {
        from: args.from.clone(),
        trust_source: args.trust_source,
        chunks: args.chosen.chunks.clone(),
        area: args.chosen.area,
        remove_others: args.remove_others,
        players: args.player.clone(),
        files: args.file.clone(),
    };
    let world = open_for_check(&args.path)?;
    let bar = ChunkProgress::new(console, "comparing", None);
    let plan = world.plan_restore(&options, &bar)?;
    drop(bar);
    let how = changing::options(&args.apply, None, console);
    let change = (!args.apply.dry_run).then(|| plan.begin(&world, &how)).transpose()?;
    show(args, &plan, console)?;
    let source = plan.source.name.clone();
    let missing = plan.chunks.iter().any(|chunk| is_missing(chunk.action));
    let unlisted = plan.unlisted.clone();
    let is_empty = plan.is_empty();
    let question = format!("restore from {source} to {}?", plan.location());
    let is_wanted =
        !is_empty && !args.apply.dry_run && console.confirm(&question, args.apply.yes)?;
    let (mut done, mut bundle) = (RestoreReport::default(), None);
    if is_wanted {
        let bar = ChunkProgress::new(console, "restoring", None);
        let (restored, changed) = changing::apply(change, &plan, &bar)?;
        (done, bundle) = (restored, changed.bundle);
    }
    summary(args, &source, is_wanted, is_empty, (&done, bundle.as_deref()), console)?;
    console.flush_data()?;
    for finding in &unlisted {
        exit::complain(&exit::problem(finding.to_string()));
    }
    let is_done = is_wanted || is_empty || args.apply.dry_run;
    let is_clean = is_done && !missing && unlisted.is_empty();
    Ok(if is_clean { Exit::Clean } else { Exit::Problems })
}

/// Returns whether a chosen chunk cannot be restored.
fn is_missing(action: RestoreAction) -> bool {
    matches!(action, RestoreAction::MissingInSource | RestoreAction::DamagedInSource)
}

fn action_name(action: RestoreAction) -> &'static str {
    match action {
        RestoreAction::Replace => "replace",
        RestoreAction::Create => "create",
        RestoreAction::ReplaceDamaged => "replace-damaged",
        RestoreAction::Remove => "remove",
        RestoreAction::Equal => "equal",
        RestoreAction::DamagedInSource => "damaged-in-source",
        RestoreAction::MissingInSource => "missing-in-source",
    }
}

fn action_words(action: RestoreAction) -> &'static str {
    match action {
        RestoreAction::Replace => "replace it",
        RestoreAction::Create => "missing: write it",
        RestoreAction::ReplaceDamaged => "damaged: replace it",
        RestoreAction::Remove => "not in the backup: remove it",
        RestoreAction::Equal => "equal: nothing to do",
        RestoreAction::DamagedInSource => "damaged in the backup: leave it as it is",
        RestoreAction::MissingInSource => "not in the backup: leave it as it is",
    }
}

fn show(args: &RestoreArgs, plan: &Restore, console: &mut Console) -> anyhow::Result<()> {
    if args.json {
        for chunk in &plan.chunks {
            let (x, z, action) = (chunk.at.x, chunk.at.z, action_name(chunk.action));
            json::line(console, &Line::Chunk { x, z, action })?;
        }
        for file in &plan.files {
            let (equal, file) = (file.is_equal, file.path.display().to_string());
            json::line(console, &Line::File { file, equal })?;
        }
        return Ok(());
    }
    let source = &plan.source;
    let time = source.time_ms.map(|time| format!(", {}", text::time(time))).unwrap_or_default();
    let reason = super::repair::same_world(source.same_world);
    console.report(format_args!("source: {}{time} ({reason})", source.name))?;
    let mut table = Table::new(">x|>z|action");
    for chunk in plan.chunks.iter().take(SHOWN) {
        let words = action_words(chunk.action).to_owned();
        table.row([chunk.at.x.to_string(), chunk.at.z.to_string(), words]);
    }
    if !table.is_empty() {
        table.write(console, "")?;
    }
    if let more @ 1.. = plan.chunks.len().saturating_sub(SHOWN) {
        console.report(format_args!("and {more} more chunks; --json has them all"))?;
    }
    for file in &plan.files {
        let words = if file.is_equal { "equal: nothing to do" } else { "replace it" };
        console.report(format_args!("{}: {words}", file.path.display()))?;
    }
    Ok(())
}

fn summary(
    args: &RestoreArgs,
    source: &str,
    applied: bool,
    is_empty: bool,
    (done, bundle): (&RestoreReport, Option<&Path>),
    console: &mut Console,
) -> anyhow::Result<()> {
    if args.json {
        let line = Line::Summary {
            source,
            applied,
            restored: done.restored,
            removed: done.removed,
            files: done.files,
            bundle: bundle.map(|path| path.display().to_string()),
        };
        return json::line(console, &line);
    }
    if !applied {
        let asks = !args.apply.dry_run && !is_empty;
        let advice = if asks { "; --yes restores" } else { "" };
        return Ok(console.report(format_args!("nothing changed{advice}"))?);
    }
    console.report(format_args!(
        "{} restored, {} removed, {} restored",
        text::count(done.restored, "chunk"),
        text::thousands(done.removed),
        text::count(done.files, "file"),
    ))?;
    super::undo::advise(bundle, console)
}
