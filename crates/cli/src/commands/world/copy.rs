//! `world copy UNIVERSE FROM TO`.

use hyworld_world::{ServerCheck, WorldName, WorldOptions, tree_size};
use serde::Serialize;

use crate::args::world::CopyArgs;
use crate::exit::Exit;
use crate::output::{Console, json, progress, text};

#[derive(Debug, Serialize)]
struct Report<'a> {
    from: &'a str,
    to: &'a str,
    path: String,
    uuid: Option<String>,
    files: u64,
    bytes: u64,
    dry_run: bool,
}

pub(super) fn run(args: &CopyArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let universe = hyworld::find_universe(&args.universe)?;
    let (from, to) = (WorldName::new(&args.from)?, WorldName::new(&args.to)?);
    let source = universe.existing_path(&from)?;
    let target = universe.free_path(&to)?;
    let mut uuid = None;
    if !args.dry_run {
        let spinner = progress::spinner(console, "copying");
        let copied = universe.copy_world(&from, &to, ServerCheck::Refuse);
        spinner.finish_and_clear();
        let copy = WorldOptions::new().without_chunks().open(&copied?)?;
        uuid = copy.config().map_err(Clone::clone)?.settings.uuid;
    }
    let size = tree_size(if args.dry_run { &source } else { &target })?;
    if args.json {
        let report = Report {
            from: &args.from,
            to: &args.to,
            path: target.display().to_string(),
            uuid: uuid.map(|uuid| uuid.to_string()),
            files: size.files,
            bytes: size.bytes,
            dry_run: args.dry_run,
        };
        json::line(console, &report)?;
        return Ok(Exit::Clean);
    }
    let (files, bytes) = (text::count(size.files, "file"), text::size(size.bytes));
    let would = if args.dry_run { "would be copied" } else { "copied" };
    let (source, target) = (source.display(), target.display());
    console.report(format_args!("{source} {would} to {target}: {files}, {bytes}"))?;
    Ok(Exit::Clean)
}
