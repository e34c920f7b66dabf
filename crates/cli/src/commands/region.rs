//! `hyworld region <verb> FILE`, one file each, and what they share.

mod compact;
mod finding;
mod get;
mod info;
mod ls;
mod place;
mod put;
mod rebuild;
mod restore;
mod rm;
mod salvage;
mod seal;
mod upgrade;
mod verify;

use std::path::Path;
use std::time::Instant;

use hyworld_indexed_storage::{
    Error, FormatVersion, HeaderProblem, IndexedStorageFile, OpenOptions,
};
use hyworld_world::{ServerCheck, WritePermit};

use crate::args::region::{Force, Source, Verb};
use crate::exit::{self, Exit};
use crate::output::{Console, text};

pub(super) fn run(verb: Verb, console: &mut Console) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let exit = match verb {
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
    }?;
    console.detail(format_args!("took {}", text::duration(started.elapsed())))?;
    Ok(exit)
}

/// Opens a file for reading, of either version.
fn open(source: &Source) -> anyhow::Result<IndexedStorageFile> {
    let mut options = OpenOptions::new();
    if let Some(geometry) = source.assume_geometry {
        options = options.assume_geometry(geometry);
    }
    options.open(&source.file).map_err(|error| match error {
        Error::Header {
            problem: HeaderProblem::Magic | HeaderProblem::Geometry { .. }, ..
        } => {
            let advice = "if it was a region file, --assume-geometry 1024x4096 reads it";
            exit::advise(&error, advice)
        }
        other => other.into(),
    })
}

/// Opens a file of version 1 for reading: the first step of every verb that will change it, so
/// that nothing is touched before all is known to be well.
fn look_at(path: &Path) -> anyhow::Result<IndexedStorageFile> {
    let file = OpenOptions::new().open(path)?;
    if file.version() == FormatVersion::V0 {
        let path = path.to_owned();
        let advice = "`hyworld region upgrade` does that";
        return Err(exit::advise(&Error::NeedsUpgrade { path }, advice));
    }
    Ok(file)
}

/// How to open a file for writing. Upgrading is a verb of its own.
fn for_writing() -> OpenOptions {
    OpenOptions::new().write(true).upgrade(false)
}

/// Asks to change a file in its place.
fn permit(path: &Path, force: Force) -> anyhow::Result<WritePermit> {
    let check = if force.force { ServerCheck::Skip } else { ServerCheck::Refuse };
    WritePermit::of_storage(path, check).map_err(|error| match error {
        hyworld_world::Error::ServerRuns { .. } | hyworld_world::Error::InUse { .. } => {
            exit::failure(format!("{error}, or use --force if it does not write this file"))
        }
        other => other.into(),
    })
}
