//! `player remove PATH PLAYER`.

use hyworld::ChangeOptions;
use serde::Serialize;

use crate::args::player::RemoveArgs;
use crate::exit::Exit;
use crate::output::{Console, json};

#[derive(Debug, Serialize)]
struct Report {
    uuid: String,
    kept: Option<String>,
    removed: bool,
    dry_run: bool,
    /// The undo bundle.
    bundle: Option<String>,
}

pub(super) fn run(args: &RemoveArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let universe = hyworld::find_universe(&args.path)?;
    let player = hyworld::find_player(&universe, &args.player)?.uuid;
    let (mut kept, mut bundle) = (None, None);
    if !args.dry_run {
        let (file, done) = hyworld::remove_player(&universe, player, &ChangeOptions::new())?;
        (kept, bundle) = (file, done.bundle);
    }
    let kept = kept.map(|path| path.display().to_string());
    if args.json {
        let (uuid, removed) = (player.to_string(), kept.is_some());
        let bundle = bundle.map(|path| path.display().to_string());
        json::line(console, &Report { uuid, kept, removed, bundle, dry_run: args.dry_run })?;
    } else if let Some(kept) = kept {
        console.report(format_args!("player {player}: removed; kept as {kept}"))?;
        crate::commands::undo::advise(bundle.as_deref(), console)?;
    } else {
        console.report(format_args!("player {player}: would be removed; nothing changed"))?;
    }
    Ok(Exit::Clean)
}
