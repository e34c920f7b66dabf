//! `hyworld region <verb> FILE`: one file per verb, and shared helpers.

mod compact;
mod finding;
mod get;
mod info;
mod ls;
mod put;
mod rebuild;
mod restore;
mod rm;
mod salvage;
mod seal;
mod slot_names;
mod upgrade;
mod verify;

use std::path::Path;

use hyworld::ChangeOptions;
use hyworld_indexed_storage::{Error, HeaderProblem, IndexedStorageFile, OpenOptions};
use hyworld_maintenance::ScanOptions;
use hyworld_world::ServerCheck;

use crate::args::region::{BundleArgs, Force, Source, Verb};
use crate::exit::{self, Exit};
use crate::output::{Console, advice};

pub(super) fn run(verb: Verb, console: &mut Console) -> anyhow::Result<Exit> {
    match verb {
        Verb::Info(args) => info::run(&args, console),
        Verb::Ls(args) => ls::run(&args, console),
        Verb::Get(args) => get::run(&args, console),
        Verb::Put(args) => put::run(&args, console),
        Verb::Rm(args) => rm::run(&args, console),
        Verb::Verify(args) => verify::run(&args, console),
        Verb::Salvage(args) => salvage::run(&args, console),
        Verb::Compact(args) => compact::run(&args, console),
        Verb::Upgrade(args) => upgrade::run(&args, console),
        Verb::Seal(args) => seal::run(&args, console),
    }
}

/// Opens a region file of either version for reading.
fn open(source: &Source) -> anyhow::Result<IndexedStorageFile> {
    let mut options = OpenOptions::new();
    if let Some(geometry) = source.assume_geometry {
        options = options.assume_geometry(geometry);
    }
    options.open(&source.file).map_err(|error| match error {
        Error::Header {
            ref path,
            problem: HeaderProblem::Magic | HeaderProblem::Geometry { .. },
        } => {
            let options = " --assume-geometry 1024x4096 --rebuild-header";
            let verify = advice::region("verify", path, options);
            let text = format!("if it was a region file, {verify} repairs it after asking");
            exit::advise(&error, &text)
        }
        other => advised(other.into()),
    })
}

/// Opens a version 1 region file for reading, before a change.
fn open_before_change(path: &Path) -> anyhow::Result<IndexedStorageFile> {
    hyworld::open_region(path).map_err(advised)
}

/// Returns the options of a change.
fn change_options(undo: &BundleArgs, force: Option<Force>, console: &Console) -> ChangeOptions {
    let is_forced = force.is_some_and(|force| force.force);
    let check = if is_forced { ServerCheck::Skip } else { ServerCheck::Refuse };
    let scan = ScanOptions::new().jobs(console.jobs());
    let options = ChangeOptions::new().server_check(check).scan(scan);
    if undo.no_undo { options.without_undo() } else { options.bundle(undo.bundle.clone()) }
}

/// Adds advice to an error: the verb or option that helps.
fn advised(error: hyworld::Error) -> anyhow::Error {
    match error.cause().downcast_ref() {
        Some(region @ Error::NeedsUpgrade { path }) => {
            exit::advise(region, &format!("run {}", advice::region("upgrade", path, "")))
        }
        Some(region @ Error::WouldDropDamaged { path, .. }) => {
            let names = advice::region("verify", path, "");
            let drops = advice::region("compact", path, " --drop-damaged");
            exit::advise(region, &format!("{names} lists them, {drops} drops them"))
        }
        Some(region @ Error::NotAFile { path }) if path.is_dir() => {
            let info = format!("`hyworld info {}`", hyworld::files::shell_word(path));
            exit::advise(region, &format!("{info} shows what the path is"))
        }
        Some(region @ Error::SearchUnfinished { path }) => {
            let drops = advice::region("compact", path, " --drop-orphans");
            exit::advise(region, &format!("{drops} drops them"))
        }
        _ => error.into(),
    }
}

/// As [`advised`], for verbs that have `--force`.
fn or_force(error: hyworld::Error) -> anyhow::Error {
    use hyworld_world::Error as World;
    match error.cause().downcast_ref() {
        Some(World::ServerRuns { .. } | World::InUse { .. }) => exit::failure(format!(
            "{error}, or use --force if that program does not write this file"
        )),
        _ => advised(error),
    }
}
