//! `player list PATH`.

use hyworld::PlayerInfo;
use serde::Serialize;

use super::show::{position, world};
use crate::args::player::ListArgs;
use crate::exit::{self, Exit};
use crate::output::table::Table;
use crate::output::{Console, json, text};

/// The maximum width of a name.
const NAME_WIDTH: usize = 24;

#[derive(Debug, Serialize)]
struct Line<'a> {
    uuid: &'a str,
    name: Option<&'a str>,
    world: Option<&'a str>,
    x: Option<f64>,
    y: Option<f64>,
    z: Option<f64>,
    game_mode: Option<&'a str>,
    stacks: usize,
    only_backup: bool,
}

pub(super) fn run(args: &ListArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let universe = hyworld::find_universe(&args.path)?;
    let mut table = Table::new("uuid|name|world|position|>stacks|");
    let mut is_clean = true;
    for entry in universe.players().list()? {
        let info = match PlayerInfo::load(&universe, entry) {
            Ok(info) => info,
            Err(error) => {
                is_clean = false;
                exit::complain(&exit::problem(error.to_string()));
                continue;
            }
        };
        if args.json {
            json::line(console, &Line::new(&info))?;
        } else {
            table.row(row(&info));
        }
    }
    if !args.json {
        if !table.is_empty() {
            table.write(console, "")?;
        }
        let players = text::count(table.len() as u64, "player");
        console.say(format_args!("{}: {players}", universe.path().display()))?;
    }
    Ok(if is_clean { Exit::Clean } else { Exit::Problems })
}

fn row(info: &PlayerInfo) -> [String; 6] {
    let name = info.name.as_deref().unwrap_or("-");
    [
        info.uuid.clone(),
        text::short(name, NAME_WIDTH),
        text::short(&world(info), NAME_WIDTH),
        position(info),
        text::thousands(info.stacks() as u64),
        if info.only_backup { "backup only".to_owned() } else { String::new() },
    ]
}

impl<'a> Line<'a> {
    fn new(info: &'a PlayerInfo) -> Self {
        Self {
            uuid: &info.uuid,
            name: info.name.as_deref(),
            world: info.world.as_deref(),
            x: info.x,
            y: info.y,
            z: info.z,
            game_mode: info.game_mode.as_deref(),
            stacks: info.stacks(),
            only_backup: info.only_backup,
        }
    }
}
