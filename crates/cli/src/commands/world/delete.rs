//! `world delete UNIVERSE NAME`.

use hyworld_world::{ServerCheck, WorldName, tree_size};
use serde::Serialize;

use crate::args::world::DeleteArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, json, text};

#[derive(Debug, Serialize)]
struct Report<'a> {
    name: &'a str,
    path: String,
    files: u64,
    bytes: u64,
    deleted: bool,
    dry_run: bool,
}

pub(super) fn run(args: &DeleteArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let universe = hyworld::find_universe(&args.universe)?;
    let name = WorldName::new(&args.name)?;
    let path = universe.existing_path(&name)?;
    let size = tree_size(&path)?;
    let (files, bytes) = (text::count(size.files, "file"), text::size(size.bytes));
    let what = format!("{}: {files}, {bytes}", path.display());
    if !args.dry_run {
        let question = format!("{what}: delete this world?");
        if !console.confirm(&question, args.yes)? {
            let advice = "nothing deleted; --yes deletes it permanently";
            return Err(exit::usage(format!("{what} would be deleted; {advice}")));
        }
        universe.delete_world(&name, ServerCheck::Refuse)?;
    }
    if args.json {
        let report = Report {
            name: &args.name,
            path: path.display().to_string(),
            files: size.files,
            bytes: size.bytes,
            deleted: !args.dry_run,
            dry_run: args.dry_run,
        };
        json::line(console, &report)?;
    } else if args.dry_run {
        console.report(format_args!("{what} would be deleted"))?;
    } else {
        console.report(format_args!("{what} deleted"))?;
    }
    Ok(Exit::Clean)
}
