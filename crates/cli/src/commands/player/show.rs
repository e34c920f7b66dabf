//! `player show PATH PLAYER`.

use std::io::{self, Write};

use hyworld::{InventoryInfo, ItemInfo, PlayerInfo};

use crate::args::player::ShowArgs;
use crate::exit::{self, Exit};
use crate::output::table::Table;
use crate::output::{Console, json, text};

/// The maximum width of a name.
const NAME_WIDTH: usize = 48;

pub(super) fn run(args: &ShowArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let universe = hyworld::find_universe(&args.path)?;
    let entry = hyworld::find_player(&universe, &args.player)?;
    let info = PlayerInfo::load(&universe, entry)?;
    if args.json {
        json::line(console, &info)?;
    } else {
        write(console, &info)?;
    }
    console.flush_data()?;
    for finding in &info.findings {
        exit::complain(&exit::problem(format!("player {}: {finding}", info.uuid)));
    }
    Ok(if info.findings.is_empty() { Exit::Clean } else { Exit::Problems })
}

fn write(out: &mut impl Write, info: &PlayerInfo) -> io::Result<()> {
    let name = text::short(info.name.as_deref().unwrap_or("unnamed"), NAME_WIDTH);
    writeln!(out, "player {}: {name}", info.uuid)?;
    let mut fact =
        |what: &str, value: &str| writeln!(out, "  {what:<10} {}", text::short(value, NAME_WIDTH));
    fact("world", &world(info))?;
    fact("position", &position(info))?;
    fact("game mode", info.game_mode.as_deref().unwrap_or("-"))?;
    if let Some(health) = info.health {
        fact("health", &format!("{health:.1}"))?;
    }
    if info.only_backup {
        fact("file", "only a backup exists")?;
    }
    let mut table = Table::new("container|>slot|item|>quantity|durability");
    let mut empty = Vec::new();
    for container in &info.containers {
        container.items.iter().for_each(|item| table.row(row(container, item)));
        if container.items.is_empty() {
            empty.push(container.role.to_owned());
        }
    }
    if !table.is_empty() {
        writeln!(out)?;
        table.write(out, "  ")?;
    }
    if !empty.is_empty() {
        writeln!(out, "\n  empty: {}", text::join_fitting(&empty, NAME_WIDTH))?;
    }
    Ok(())
}

fn row(container: &InventoryInfo, item: &ItemInfo) -> [String; 5] {
    let is_active = container.active_slot == Some(item.slot);
    let durability = if item.max_durability > 0.0 {
        format!("{:.1} of {:.1}", item.durability, item.max_durability)
    } else {
        String::new()
    };
    [
        container.role.to_owned(),
        format!("{}{}", if is_active { "> " } else { "" }, item.slot),
        text::short(&item.id, NAME_WIDTH),
        item.quantity.to_string(),
        durability,
    ]
}

pub(super) fn world(info: &PlayerInfo) -> String {
    info.world.clone().unwrap_or_else(|| "-".to_owned())
}

pub(super) fn position(info: &PlayerInfo) -> String {
    match (info.x, info.y, info.z) {
        (Some(x), Some(y), Some(z)) => format!("{x:.1} {y:.1} {z:.1}"),
        _ => "-".to_owned(),
    }
}
