//! `compact`, `seal` and `unseal` for all region files at a path.

use std::path::Path;

use hyworld::{PackForecast, PackOutcome, Packing, open_for_check};
use hyworld_maintenance::ScanOptions;
use serde::Serialize;

use super::changing;
use crate::args::health::{ApplyArgs, CompactArgs, SealArgs};
use crate::exit::{self, Exit};
use crate::output::progress::ChunkProgress;
use crate::output::{Console, json, text};

#[derive(Debug, Serialize)]
struct Report {
    location: String,
    action: &'static str,
    files: u64,
    chunks: u64,
    live: u64,
    slack: u64,
    orphaned: u64,
    before: u64,
    forecast: u64,
    after: Option<u64>,
    changed: u64,
    blobs: u64,
    findings: u64,
    applied: bool,
    bundle: Option<String>,
}

/// A verb with its options.
struct Work<'a> {
    path: &'a Path,
    /// Its name, if the verb works on several worlds.
    world: Option<&'a str>,
    apply: &'a ApplyArgs,
    json: bool,
    packing: Packing,
}

pub(super) fn compact(args: &CompactArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let CompactArgs { level, drop_orphans, .. } = *args;
    let packing = Packing::Compact { level, drop_orphans };
    let work = Work { path: &args.path, world: None, apply: &args.apply, json: args.json, packing };
    super::each_world(&args.path, |path, world| Work { path, world, ..work }.run(console))
}

pub(super) fn seal(args: &SealArgs, remove: bool, console: &mut Console) -> anyhow::Result<Exit> {
    let level = args.level;
    let packing = if remove { Packing::Unseal { level } } else { Packing::Seal { level } };
    let work = Work { path: &args.path, world: None, apply: &args.apply, json: args.json, packing };
    super::each_world(&args.path, |path, world| Work { path, world, ..work }.run(console))
}

impl Work<'_> {
    fn run(&self, console: &mut Console) -> anyhow::Result<Exit> {
        let scan = ScanOptions::new().jobs(console.jobs());
        let bar = ChunkProgress::new(console, "measuring", None);
        let opened = open_for_check(self.path)?;
        let change = changing::begin(&opened, self.verb(), self.apply, self.world, console)?;
        let plan = opened.plan_packing(self.packing, &scan, &bar)?;
        drop(bar);
        let (name, forecast) = (plan.location(), plan.forecast.clone());
        if !self.json {
            self.show(&name, &forecast, console)?;
        }
        let question = format!("{} {name}?", self.verb());
        let is_useful = self.is_useful(&forecast);
        let is_wanted =
            is_useful && !self.apply.dry_run && console.confirm(&question, self.apply.yes)?;
        let (mut done, mut bundle) = (PackOutcome::default(), None);
        if is_wanted {
            let bar = ChunkProgress::new(console, "rewriting", None);
            let (packed, changed) = changing::apply(change, &plan, &bar)?;
            (done, bundle) = (packed, changed.bundle);
        }
        if self.json {
            let report = self.report(name, &forecast, &done, is_wanted);
            let bundle = bundle.map(|path| path.display().to_string());
            json::line(console, &Report { bundle, ..report })?;
        } else {
            self.summary(is_useful, is_wanted, &done, console)?;
            self.advise(bundle.as_deref(), console)?;
        }
        console.flush_data()?;
        let findings = if is_wanted { &done.findings } else { &forecast.findings };
        for finding in findings.kept() {
            exit::complain(&exit::problem(finding.to_string()));
        }
        let is_done = is_wanted || !is_useful || self.apply.dry_run;
        Ok(if is_done && findings.total() == 0 { Exit::Clean } else { Exit::Problems })
    }

    fn verb(&self) -> &'static str {
        match self.packing {
            Packing::Compact { .. } => "compact",
            Packing::Seal { .. } => "seal",
            Packing::Unseal { .. } => "unseal",
        }
    }

    /// Returns whether there may be something to do. The effect of compressing again or sealing is
    /// known only afterwards.
    fn is_useful(&self, forecast: &PackForecast) -> bool {
        match self.packing {
            Packing::Compact { level: None, .. } => forecast.smaller_files > 0,
            _ => forecast.totals.chunks > 0,
        }
    }

    fn show(
        &self,
        name: &str,
        forecast: &PackForecast,
        console: &mut Console,
    ) -> anyhow::Result<()> {
        let totals = &forecast.totals;
        let files = text::count(totals.files, "region file");
        let size = text::size(totals.file_bytes);
        console.report(format_args!("{name}: {files}, {size}"))?;
        let Packing::Compact { level, .. } = self.packing else { return Ok(()) };
        let freed = totals.file_bytes.saturating_sub(forecast.bytes_after);
        console.report(format_args!(
            "  {} live, {} slack that cannot be freed, {} orphaned",
            text::size(totals.live_bytes),
            text::size(totals.slack_bytes),
            text::size(totals.orphaned_bytes),
        ))?;
        console.report(format_args!(
            "  compacting frees {} ({}), in {}",
            text::size(freed),
            text::percent(freed, totals.file_bytes),
            text::count(forecast.smaller_files, "file"),
        ))?;
        if totals.orphaned_bytes > 0 {
            console.report(format_args!(
                "  orphaned blobs can be the only copies of removed chunks; afterwards only the \
                 undo bundle has them"
            ))?;
            console
                .report(format_args!("  `hyworld undelete` lists and restores them before that"))?;
        }
        if let Some(level) = level {
            console.report(format_args!("  compressing again at level {level} may free more"))?;
        }
        Ok(())
    }

    fn summary(
        &self,
        is_useful: bool,
        is_wanted: bool,
        done: &PackOutcome,
        console: &mut Console,
    ) -> anyhow::Result<()> {
        if !is_wanted {
            let words = match (is_useful, self.apply.dry_run) {
                (false, _) => "nothing to do",
                (true, true) => "nothing changed",
                (true, false) => "nothing changed; --yes applies the plan",
            };
            return Ok(console.report(format_args!("{words}"))?);
        }
        let files = text::count(done.changed, "file");
        let (before, after) = (text::size(done.bytes_before), text::size(done.bytes_after));
        let blobs = match done.blobs {
            0 => String::new(),
            blobs => format!(", {} rewritten", text::count(blobs, "blob")),
        };
        console.report(format_args!("{files} replaced{blobs}: {before} before, {after} now"))?;
        Ok(())
    }

    fn advise(&self, bundle: Option<&Path>, console: &mut Console) -> anyhow::Result<()> {
        super::undo::advise(bundle, console)?;
        if bundle.is_some() && matches!(self.packing, Packing::Compact { .. }) {
            console.report(format_args!("delete the bundle to free its space"))?;
        }
        Ok(())
    }

    fn report(
        &self,
        location: String,
        forecast: &PackForecast,
        done: &PackOutcome,
        applied: bool,
    ) -> Report {
        let totals = &forecast.totals;
        Report {
            location,
            action: self.verb(),
            files: totals.files,
            chunks: totals.chunks,
            live: totals.live_bytes,
            slack: totals.slack_bytes,
            orphaned: totals.orphaned_bytes,
            before: totals.file_bytes,
            forecast: forecast.bytes_after,
            after: applied.then_some(done.bytes_after),
            changed: done.changed,
            blobs: done.blobs,
            findings: done.findings.total().max(forecast.findings.total()),
            applied,
            bundle: None,
        }
    }
}
