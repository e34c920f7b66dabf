//! What was found, for people.

use std::io::{self, Write};

use hyworld_providers::ProviderConfig;
use hyworld_world::{LoadedFrom, SpawnProvider};

use super::storage::Stored;
use super::universe::UniverseInfo;
use super::world::{ConfigInfo, WorldInfo};
use super::{Info, Problems};
use crate::output::text;

/// How many problems are printed.
const SHOWN_PROBLEMS: usize = 20;

/// Characters of a value that is a list of names.
const NAMES_WIDTH: usize = 75;

/// Writes one line: what, and how much of it.
fn line(out: &mut impl Write, what: &str, value: &str) -> io::Result<()> {
    writeln!(out, "  {what:<14} {}", text::printable(value))
}

impl Info {
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let path = text::printable(&self.path.display().to_string());
        writeln!(out, "{path}: {}", self.kind)?;
        if let Some(universe) = &self.universe {
            write_universe(out, universe)?;
            let names: Vec<_> = self.worlds.iter().map(|world| world.name.clone()).collect();
            line(out, "worlds", &counted(&names))?;
        }
        if let Some(stored) = &self.storage {
            self.write_stored(out, stored)?;
        }
        for world in &self.worlds {
            self.write_world(out, world)?;
        }
        write_problems(out, &self.problems)
    }

    fn write_world(&self, out: &mut impl Write, world: &WorldInfo) -> io::Result<()> {
        let name = text::printable(&world.name);
        match self.storage {
            // What it is stands in the first line already.
            None if self.universe.is_none() => {}
            None => writeln!(out, "\nworld {name}")?,
            Some(_) => writeln!(out, "\nworld {name}, to which it belongs")?,
        }
        line(out, "folder", &world.path.display().to_string())?;
        if let Some(config) = &world.config {
            write_config(out, config, world.generator)?;
        }
        if let Some(provider) = &world.provider {
            line(out, "provider", &provider_line(provider, world.pending.as_ref()))?;
        }
        line(out, "resources", &counted(&world.resources))?;
        line(out, "in use", world.writer.as_deref().unwrap_or("nobody seems to write it"))?;
        world.stored.iter().try_for_each(|stored| self.write_stored(out, stored))
    }

    fn write_stored(&self, out: &mut impl Write, stored: &Stored) -> io::Result<()> {
        line(out, "chunks", &text::thousands(stored.chunks))?;
        if let Some(contents) = &stored.contents {
            line(out, "entities", &text::thousands(contents.entities))?;
            line(out, "block entities", &text::thousands(contents.block_entities))?;
            if contents.unreadable > 0 {
                let chunks = text::count(contents.unreadable, "chunk");
                line(out, "unreadable", &format!("{chunks}, which the counts leave out"))?;
            }
        }
        match (&stored.regions, &stored.contents) {
            (Some(_), _) => write_regions(out, stored)?,
            (None, Some(contents)) => line(out, "content", &text::size(contents.raw_bytes))?,
            (None, None) => {}
        }
        if self.is_fast {
            line(out, "note", "entities are not counted with --fast")?;
        }
        Ok(())
    }
}

fn write_universe(out: &mut impl Write, universe: &UniverseInfo) -> io::Result<()> {
    line(out, "universe", &universe.path.display().to_string())?;
    let players = text::thousands(universe.players as u64);
    match universe.only_backups {
        0 => line(out, "players", &players)?,
        count => line(out, "players", &format!("{players}, {count} of them only as a backup"))?,
    }
    if !universe.resources.is_empty() {
        line(out, "resources", &counted(&universe.resources))?;
    }
    match universe.backups.first() {
        None => line(out, "backups", "none"),
        Some(newest) => {
            let (count, path) = (universe.backups.len(), newest.path.display());
            line(out, "backups", &format!("{count}, the newest is {path}"))
        }
    }
}

/// How many there are, and which.
fn counted(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| text::printable(name)).collect();
    match names.len() {
        0 => "none".to_owned(),
        count => format!("{count}: {}", text::as_many(&names, NAMES_WIDTH)),
    }
}

fn write_config(
    out: &mut impl Write,
    ConfigInfo { from, config }: &ConfigInfo,
    generator: Option<&str>,
) -> io::Result<()> {
    let settings = &config.settings;
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    line(out, "display name", &or_none(settings.display_name.clone()))?;
    line(out, "uuid", &or_none(settings.uuid.map(|uuid| uuid.to_string())))?;
    line(out, "seed", &or_none(settings.seed.map(|seed| seed.to_string())))?;
    line(out, "config", &config_line(from, config.version()))?;
    let world_gen = settings.world_gen.type_name().unwrap_or("Hytale");
    match generator {
        None => line(out, "generator", world_gen)?,
        Some(ours) => line(out, "generator", &format!("{world_gen}; {ours} of hyworld"))?,
    }
    line(out, "game time", &settings.game_time.to_string())?;
    line(out, "spawn", &spawn_line(settings.spawn_provider.as_ref()))?;
    if let Some(mode) = &settings.game_mode {
        line(out, "game mode", mode)?;
    }
    let switches = settings.changed_switches().into_iter();
    let switches: Vec<_> = switches.map(|(key, is_on)| format!("{key} {is_on}")).collect();
    if !switches.is_empty() {
        line(out, "not default", &switches.join(", "))?;
    }
    Ok(())
}

fn config_line(from: &LoadedFrom, version: i64) -> String {
    let version = format!("version {version}");
    match from {
        LoadedFrom::Legacy { path } => {
            let name = path.file_name().unwrap_or_default().display();
            format!("{version}, from {name}, its name in old versions")
        }
        LoadedFrom::Backup { problem } => format!("{version}, from the backup: {problem}"),
        LoadedFrom::Nothing { problem } => format!("all values are the defaults: {problem}"),
        _ => version,
    }
}

fn spawn_line(spawn: Option<&SpawnProvider>) -> String {
    let Some(spawn) = spawn else { return "decided by the generator".to_owned() };
    let id = spawn.id().unwrap_or("unknown");
    match spawn.spawn_point() {
        Some(point) => format!("{id}, at {:.1} {:.1} {:.1}", point.x, point.y, point.z),
        None => id.to_owned(),
    }
}

fn provider_line(provider: &ProviderConfig, pending: Option<&ProviderConfig>) -> String {
    let name = provider.type_name();
    match pending {
        None => name.to_owned(),
        Some(pending) => {
            let pending = pending.type_name();
            format!("{name}; config.json says {pending}, where the game would move the chunks")
        }
    }
}

fn write_regions(out: &mut impl Write, stored: &Stored) -> io::Result<()> {
    let Some(regions) = &stored.regions else { return Ok(()) };
    let raw = text::size(regions.raw_bytes);
    if regions.live_bytes > 0 {
        let ratio = text::ratio(regions.raw_bytes, regions.live_bytes);
        line(out, "content", &format!("{raw}, compressed {ratio}"))?;
    }
    let all = regions.file_bytes;
    let files = text::count(regions.files, "file");
    line(out, "regions", &format!("{files}, {} bytes", text::thousands(all)))?;
    if regions.files == 0 {
        return Ok(());
    }
    let parts = [
        ("live", regions.live_bytes, "blobs with their headers"),
        ("slack", regions.slack_bytes, "rest of the last segments of blobs"),
        ("unreferenced", regions.unreferenced_bytes, "segments of no slot: see `region salvage`"),
        ("overhead", regions.overhead_bytes, "headers and index tables"),
    ];
    text::write_parts(out, all, &parts)
}

fn write_problems(out: &mut impl Write, problems: &Problems) -> io::Result<()> {
    if problems.count == 0 {
        return Ok(());
    }
    writeln!(out, "\n{}", text::count(problems.count, "problem"))?;
    for problem in problems.texts.iter().take(SHOWN_PROBLEMS) {
        writeln!(out, "  {}", text::printable(problem))?;
    }
    match problems.count.saturating_sub(SHOWN_PROBLEMS as u64) {
        0 => Ok(()),
        more => writeln!(out, "  {more} more; `hyworld verify` names all of chunks"),
    }
}
