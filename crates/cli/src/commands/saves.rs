//! `saves`: lists saves and game installations.

use std::path::Path;

use hyworld::GameFolders;
use hyworld_world::discover;
use serde::Serialize;

use crate::args::SavesArgs;
use crate::exit::{self, Exit};
use crate::output::table::Table;
use crate::output::{Console, json, text};

/// The maximum width of the world names.
const NAMES_WIDTH: usize = 30;

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Save { name: String, path: String, worlds: Vec<String>, players: usize },
    Assets { line: &'static str, path: String, bytes: u64 },
}

pub(super) fn run(args: &SavesArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let folders = GameFolders::find();
    let (mut lines, mut exit) = (Vec::new(), Exit::Clean);
    for path in folders.saves() {
        match save(&path) {
            Ok(save) => lines.push(save),
            Err(error) => exit = exit.max(exit::report(&error)),
        }
    }
    for assets in folders.assets() {
        let bytes = assets.path.metadata().map_or(0, |metadata| metadata.len());
        let path = assets.path.display().to_string();
        lines.push(Line::Assets { line: assets.line, path, bytes });
    }
    if args.json {
        lines.iter().try_for_each(|line| json::line(console, line))?;
        return Ok(exit);
    }
    write(console, &lines)?;
    let looked: Vec<_> = folders.searched().iter().map(|path| path.display().to_string()).collect();
    if lines.is_empty() {
        console.say(format_args!("nothing found; looked in {}", looked.join(", ")))?;
    }
    Ok(exit)
}

fn save(path: &Path) -> anyhow::Result<Line> {
    let worlds = discover(path)?.worlds()?;
    Ok(Line::Save {
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        path: path.display().to_string(),
        worlds: worlds.into_iter().map(|world| world.name).collect(),
        players: hyworld::find_universe(path)?.players().list()?.len(),
    })
}

fn write(console: &mut Console, lines: &[Line]) -> anyhow::Result<()> {
    let (mut saves, mut games) =
        (Table::new("worlds|>players|save"), Table::new("game|>size|assets"));
    for line in lines {
        match line {
            Line::Save { path, worlds, players, .. } => {
                let names: Vec<_> = worlds.iter().map(|name| text::printable(name)).collect();
                let names = match names.len() {
                    0 => "none".to_owned(),
                    _ => text::join_fitting(&names, NAMES_WIDTH),
                };
                saves.row([names, text::thousands(*players as u64), text::printable(path)]);
            }
            Line::Assets { line, path, bytes } => {
                games.row([(*line).to_owned(), text::size(*bytes), text::printable(path)]);
            }
        }
    }
    for table in [saves, games].iter().filter(|table| !table.is_empty()) {
        table.write(console, "")?;
    }
    Ok(())
}
