//! `upgrade WORLD`: upgrades old chunks to the current format.

use std::path::{Path, PathBuf};

use hyworld::{ChangeOptions, ChangeReport, GameFolders, Upgrade, UpgradeOutcome, load_migrations};
use hyworld_chunk::{BlockMigrations, Chunk};
use hyworld_maintenance::{Findings, ScanOptions};
use serde::Serialize;

use crate::args::upgrade::{AssetsArg, UpgradeArgs};
use crate::exit::{self, Exit};
use crate::output::progress::ChunkProgress;
use crate::output::table::Table;
use crate::output::{Console, json, text};

/// How many renamed blocks and findings are printed.
const SHOWN: usize = 20;

/// The maximum width of a block name.
const NAME_WIDTH: usize = 44;

#[derive(Debug, Serialize)]
struct Report {
    world: String,
    assets: Option<String>,
    migrations: i32,
    chunks: u64,
    behind: u64,
    old_versions: u64,
    renames: Vec<Rename>,
    written: u64,
    /// The undo bundle.
    bundle: Option<String>,
    failed: u64,
    findings: Vec<String>,
    /// Region files of version 0, which become version 1.
    old_files: Vec<String>,
    dry_run: bool,
}

#[derive(Debug, Serialize)]
struct Rename {
    from: String,
    to: String,
    chunks: u64,
}

pub(super) fn run(args: &UpgradeArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let world = hyworld::find_world(&args.path)?;
    let options = ScanOptions::new().jobs(console.jobs());
    let how = ChangeOptions::new().scan(options.clone()).bundle(args.bundle.clone());
    if let Some(kept) = &args.undo {
        let bar = ChunkProgress::new(console, "restoring", None);
        let done = hyworld::undo_upgrade(&hyworld::open(&world)?, kept, &how, &bar)?;
        drop(bar);
        return undone(args, console, &world, &done);
    }
    let assets = assets(args.assets.as_deref(), &world)?;
    let migrations = load_migrations(assets.as_deref(), Some(&world))?;
    let opened = hyworld::open(&world)?;
    let change = (!args.dry_run).then(|| opened.change_with("upgrade", &how)).transpose()?;
    let bar = ChunkProgress::new(console, "upgrading", None);
    let plan = opened.plan_upgrade(&migrations, &options, &bar)?;
    let (mut done, mut bundle) = (UpgradeOutcome::default(), None);
    if let Some(mut change) = change.filter(|_| !plan.is_empty()) {
        done = change.apply(&plan, &bar)?;
        bundle = change.commit()?.bundle;
    }
    drop(bar);
    let mut report = summed(args, &world, assets, &migrations, (&plan, &done));
    report.bundle = bundle.map(|path| path.display().to_string());
    if args.json {
        json::line(console, &report)?;
    } else {
        let is_without_assets = args.assets.as_ref().is_some_and(|path| path.as_os_str() == "none");
        write(console, &report, is_without_assets)?;
    }
    complain(console, &report)
}

/// Resolves `--assets`: a path, the assets found automatically, or none.
pub(super) fn assets(wanted: Option<&Path>, world: &Path) -> anyhow::Result<Option<PathBuf>> {
    match wanted {
        Some(path) if path.as_os_str() == "none" => Ok(None),
        Some(path) if path.as_os_str() != "auto" => Ok(Some(path.to_owned())),
        wanted => {
            let found = GameFolders::find().assets_for(world);
            if wanted.is_some() && found.is_none() {
                let text = "--assets auto: no Assets.zip beside the save or in the usual folders";
                return Err(exit::usage(format!(
                    "{text}; `hyworld saves` lists the installations it finds"
                )));
            }
            Ok(found)
        }
    }
}

/// Loads the migrations for a verb that shows blocks; none without `--assets`.
pub(super) fn migrations(arg: &AssetsArg, path: &Path) -> anyhow::Result<BlockMigrations> {
    let Some(wanted) = &arg.assets else { return Ok(BlockMigrations::default()) };
    let world = hyworld::find_world(path).ok();
    let assets = assets(Some(wanted), world.as_deref().unwrap_or(path))?;
    Ok(load_migrations(assets.as_deref(), world.as_deref())?)
}

/// Renames the blocks of a chunk for display. A chunk that cannot be upgraded is left unchanged.
pub(super) fn rename(chunk: &mut Chunk, migrations: &BlockMigrations) {
    if !migrations.is_empty() || migrations.has_numbers() {
        // The chunk is unchanged then, and its damage is reported elsewhere.
        drop(chunk.migrate(migrations));
    }
}

fn summed(
    args: &UpgradeArgs,
    world: &Path,
    assets: Option<PathBuf>,
    migrations: &BlockMigrations,
    (upgrade, done): (&Upgrade, &UpgradeOutcome),
) -> Report {
    let plan = &upgrade.plan;
    let renames = plan.renames.iter().map(|((from, to), chunks)| Rename {
        from: from.clone(),
        to: to.clone(),
        chunks: *chunks,
    });
    Report {
        world: world.display().to_string(),
        assets: assets.map(|path| path.display().to_string()),
        migrations: migrations.version(),
        chunks: plan.chunks,
        behind: plan.behind.len() as u64,
        old_versions: plan.old_versions,
        renames: renames.collect(),
        written: done.written,
        bundle: None,
        failed: plan.findings.total().saturating_add(done.findings.total()),
        findings: words(&plan.findings).chain(words(&done.findings)).collect(),
        old_files: upgrade.old_files.iter().map(|path| path.display().to_string()).collect(),
        dry_run: args.dry_run,
    }
}

fn words(findings: &Findings) -> impl Iterator<Item = String> {
    findings.kept().iter().map(ToString::to_string)
}

fn write(console: &mut Console, report: &Report, is_without_assets: bool) -> anyhow::Result<()> {
    let name = &report.world;
    match &report.assets {
        Some(assets) => {
            let count = text::count(report.migrations.unsigned_abs(), "block migration");
            console.report(format_args!("{assets}: {count}"))?;
        }
        None if is_without_assets => {
            console.report(format_args!("--assets none: no block is renamed"))?;
        }
        None => console.report(format_args!(
            "game assets not found, so no block is renamed; give their path with --assets"
        ))?,
    }
    let (chunks, behind) = (text::count(report.chunks, "chunk"), text::thousands(report.behind));
    let old = text::thousands(report.old_versions);
    console.report(format_args!(
        "{name}: {chunks}, {behind} in an old chunk format, {old} of them with old sections"
    ))?;
    write_old_files(console, report)?;
    let mut table = Table::new("old name|new name|>chunks");
    for rename in report.renames.iter().take(SHOWN) {
        let short = |name: &str| text::short(name, NAME_WIDTH);
        table.row([short(&rename.from), short(&rename.to), text::thousands(rename.chunks)]);
    }
    if !table.is_empty() {
        table.write(console, "  ")?;
    }
    if let more @ 1.. = report.renames.len().saturating_sub(SHOWN) {
        console.report(format_args!("  and {more} more: --json has them all"))?;
    }
    if report.dry_run {
        console.report(format_args!("nothing written"))?;
    } else if let Some(bundle) = &report.bundle {
        let written = text::count(report.written, "chunk");
        console.report(format_args!("{written} written"))?;
        super::undo::advise(Some(Path::new(bundle)), console)?;
    }
    Ok(())
}

fn write_old_files(console: &mut Console, report: &Report) -> anyhow::Result<()> {
    if report.old_files.is_empty() {
        return Ok(());
    }
    let files = text::count(report.old_files.len() as u64, "region file");
    let now = if report.dry_run { "would become" } else { "became" };
    console.report(format_args!("{files} of version 0 {now} version 1"))?;
    Ok(())
}

fn complain(console: &mut Console, report: &Report) -> anyhow::Result<Exit> {
    console.flush_data()?;
    for failure in report.findings.iter().take(SHOWN) {
        exit::complain(&exit::problem(failure.as_str()));
    }
    let more = report.failed.saturating_sub(SHOWN as u64);
    if more > 0 {
        console.say(format_args!("and {}", text::count(more, "more finding")))?;
    }
    Ok(if report.failed == 0 { Exit::Clean } else { Exit::Problems })
}

fn undone(
    args: &UpgradeArgs,
    console: &mut Console,
    world: &Path,
    done: &ChangeReport,
) -> anyhow::Result<Exit> {
    let bundle = done.bundle.as_ref().map(|path| path.display().to_string());
    let report = Report {
        world: world.display().to_string(),
        assets: None,
        migrations: 0,
        chunks: done.written,
        behind: 0,
        old_versions: 0,
        renames: Vec::new(),
        written: done.written,
        bundle,
        failed: 0,
        findings: Vec::new(),
        old_files: Vec::new(),
        dry_run: false,
    };
    if args.json {
        json::line(console, &report)?;
    } else if let Some(bundle) = &report.bundle {
        let written = text::count(done.written, "chunk");
        console.report(format_args!("{written} restored"))?;
        super::undo::advise(Some(Path::new(bundle)), console)?;
    } else {
        console.report(format_args!("{}: no chunk to restore", world.display()))?;
    }
    complain(console, &report)
}
