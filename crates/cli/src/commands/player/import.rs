//! `player import PATH FILE`.

use hyworld::ChangeOptions;
use hyworld::documents::Document;
use hyworld_world::{FallbackRule, JsonFile, LoadedFrom, OsFileSystem};
use serde::Serialize;

use crate::args::player::ImportArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, json};

#[derive(Debug, Serialize)]
struct Report {
    uuid: String,
    replaced: bool,
    written: bool,
    dry_run: bool,
    /// The undo bundle.
    bundle: Option<String>,
}

pub(super) fn run(args: &ImportArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let universe = hyworld::find_universe(&args.path)?;
    let mut document = read(args)?;
    if let Some(uuid) = args.uuid {
        hyworld::set_player(&mut document, uuid);
    }
    let name = args.file.display();
    let Some(uuid) = args.uuid.or_else(|| hyworld::player_in(&document)) else {
        let text = format!("{name}: contains no player UUID; add --as UUID");
        return Err(exit::problem(text));
    };
    let players = universe.players();
    let replaced = players.list()?.iter().any(|player| player.uuid == uuid);
    if replaced && !args.replace {
        let text = format!("player {uuid} already exists; add --replace to replace the file");
        return Err(exit::usage(text));
    }
    let mut done = None;
    if !args.dry_run {
        done = hyworld::save_player(&universe, uuid, &document, &ChangeOptions::new())?;
    }
    let written = done.is_some();
    let bundle = done.and_then(|done| done.bundle);
    if args.json {
        let bundle = bundle.map(|path| path.display().to_string());
        let (uuid, dry_run) = (uuid.to_string(), args.dry_run);
        let report = Report { uuid, replaced, written, dry_run, bundle };
        json::line(console, &report)?;
        return Ok(Exit::Clean);
    }
    let how = match (args.dry_run, replaced, written) {
        (true, true, _) => "would be replaced; nothing written",
        (true, false, _) => "would be added; nothing written",
        (_, _, false) => "already has this file",
        (_, true, _) => "replaced; the old file is now the backup",
        (_, false, _) => "added",
    };
    console.report(format_args!("player {uuid}: {how}"))?;
    crate::commands::undo::advise(bundle.as_deref(), console)?;
    Ok(Exit::Clean)
}

/// Reads the file and checks that it contains an entity.
fn read(args: &ImportArgs) -> anyhow::Result<Document> {
    let name = args.file.display();
    if !args.file.is_file() {
        return Err(exit::usage(format!("{name}: no such file")));
    }
    let file = JsonFile::new(&OsFileSystem, &args.file, FallbackRule::Resource);
    let loaded = file.load()?;
    if let LoadedFrom::Nothing { problem } = loaded.from {
        return Err(exit::problem(format!("{name}: {problem}")));
    }
    let components = loaded.document.get("Components");
    if components.and_then(|components| components.as_document()).is_none() {
        let text = format!("{name}: not a player file: it has no object Components");
        return Err(exit::problem(text));
    }
    Ok(loaded.document)
}
