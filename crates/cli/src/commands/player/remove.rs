//! `player remove PATH PLAYER`.

use hyworld_world::ServerCheck;
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
}

pub(super) fn run(args: &RemoveArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let universe = hyworld::find_universe(&args.path)?;
    let player = hyworld::find_player(&universe, &args.player)?.uuid;
    let permit = universe.permit(ServerCheck::Refuse)?;
    let kept = if args.dry_run { None } else { universe.players().set_aside(player)? };
    drop(permit);
    let kept = kept.map(|path| path.display().to_string());
    if args.json {
        let (uuid, removed) = (player.to_string(), kept.is_some());
        json::line(console, &Report { uuid, kept, removed, dry_run: args.dry_run })?;
    } else if let Some(kept) = kept {
        console.report(format_args!("player {player}: removed; kept as {kept}"))?;
    } else {
        console.report(format_args!("player {player}: would be removed; nothing changed"))?;
    }
    Ok(Exit::Clean)
}
