//! Prints `info` as text.

use std::io::{self, Write};

use hyworld::{ConfigInfo, Info, OtherInfo, SpawnInfo, StorageInfo, UniverseInfo, WorldInfo};
use hyworld_maintenance::{Contents, Findings, RegionTotals};
use hyworld_providers::ProviderConfig;
use hyworld_world::LoadedFrom;

use crate::output::text;

/// How many findings are printed.
const SHOWN_FINDINGS: usize = 20;

/// How many files and folders that hyworld does not read are listed.
const SHOWN_OTHERS: usize = 12;

/// The maximum width of the name of such a file.
const NAME_WIDTH: usize = 40;

/// The maximum width of a list of names.
const NAMES_WIDTH: usize = 75;

/// Writes one line with a label and a value.
fn line(out: &mut impl Write, what: &str, value: &str) -> io::Result<()> {
    writeln!(out, "  {what:<14} {}", text::printable(value))
}

pub(super) fn write(out: &mut impl Write, info: &Info, is_fast: bool) -> io::Result<()> {
    writeln!(out, "{}: {}", text::printable(&info.path), info.kind)?;
    if let Some(universe) = &info.universe {
        write_universe(out, universe)?;
        let names: Vec<_> = info.worlds.iter().map(|world| world.name.clone()).collect();
        line(out, "worlds", &counted(&names))?;
    }
    if let Some(stored) = &info.storage {
        write_stored(out, stored, is_fast)?;
    }
    for world in &info.worlds {
        let name = text::printable(&world.name);
        match info.storage {
            // The first line already names the world.
            None if info.universe.is_none() => {}
            None => writeln!(out, "\nworld {name}")?,
            Some(_) => writeln!(out, "\nworld {name}, which it belongs to")?,
        }
        write_world(out, world, is_fast)?;
    }
    write_findings(out, &info.findings)
}

fn write_world(out: &mut impl Write, world: &WorldInfo, is_fast: bool) -> io::Result<()> {
    line(out, "folder", &world.path.display().to_string())?;
    if let Some(config) = &world.config {
        write_config(out, config, world.generator)?;
    }
    if let Some(provider) = &world.provider {
        line(out, "provider", &provider_line(provider, world.pending_provider.as_ref()))?;
    }
    line(out, "resources", &counted(&world.resources))?;
    if !world.paths.is_empty() {
        line(out, "paths.json", &counted(&world.paths))?;
    }
    write_others(out, &world.others)?;
    line(out, "in use", world.writer.as_deref().unwrap_or("no writer detected"))?;
    world.storage.iter().try_for_each(|stored| write_stored(out, stored, is_fast))
}

fn write_stored(out: &mut impl Write, stored: &StorageInfo, is_fast: bool) -> io::Result<()> {
    line(out, "chunks", &text::thousands(stored.chunks))?;
    if let Some(contents) = &stored.contents {
        line(out, "entities", &text::thousands(contents.entities))?;
        line(out, "block entities", &text::thousands(contents.block_entities))?;
        line(out, "versions", &versions(contents))?;
        if contents.unreadable > 0 {
            let chunks = text::count(contents.unreadable, "chunk");
            line(out, "unreadable", &format!("{chunks}, not included in the counts"))?;
        }
    }
    match (&stored.regions, &stored.contents) {
        (Some(regions), _) => write_regions(out, regions)?,
        (None, Some(contents)) => line(out, "documents", &text::size(contents.raw_bytes))?,
        (None, None) => {}
    }
    if is_fast {
        line(out, "note", "entities are not counted with --fast")?;
    }
    Ok(())
}

/// Formats the newest version of each component with versions.
fn versions(contents: &Contents) -> String {
    let versions = contents.newest_versions.iter().filter(|(_, version)| **version > 0);
    let versions: Vec<_> = versions.map(|(id, version)| format!("{id} {version}")).collect();
    if versions.is_empty() { "none".to_owned() } else { text::join_fitting(&versions, NAMES_WIDTH) }
}

fn write_universe(out: &mut impl Write, universe: &UniverseInfo) -> io::Result<()> {
    line(out, "universe", &universe.path)?;
    let players = text::thousands(universe.players as u64);
    match universe.players_only_backup {
        0 => line(out, "players", &players)?,
        count => line(out, "players", &format!("{players}, {count} of them only as backup"))?,
    }
    if !universe.resources.is_empty() {
        line(out, "resources", &counted(&universe.resources))?;
    }
    let backups = &universe.backups;
    match &backups.newest {
        None => line(out, "backups", "none")?,
        Some(newest) => {
            let worlds = match &backups.newest_worlds {
                None => "cannot be opened".to_owned(),
                Some(worlds) if worlds.is_empty() => "has no worlds".to_owned(),
                Some(worlds) => format!("has {}", worlds.join(", ")),
            };
            let text = format!("{}; the newest, {newest}, {worlds}", backups.count);
            line(out, "backups", &text)?;
        }
    }
    write_others(out, &universe.others)?;
    write_others(out, &universe.others_in_save)?;
    if universe.in_installation {
        let wiped =
            "this save is inside the launcher's install folder, which updates delete: move it";
        line(out, "warning", wiped)?;
    }
    Ok(())
}

/// Writes one line for each file or folder that hyworld does not read.
fn write_others(out: &mut impl Write, others: &[OtherInfo]) -> io::Result<()> {
    for other in others.iter().take(SHOWN_OTHERS) {
        let (name, files) =
            (text::short(&other.name, NAME_WIDTH), text::count(other.files, "file"));
        let bytes = text::size(other.bytes);
        let is_folder = other.name.ends_with('/');
        let size = if is_folder { format!("{files}, {bytes}") } else { bytes };
        let what = other.what.unwrap_or("unknown to hyworld");
        line(out, "also here", &format!("{name}: {what}; {size}"))?;
    }
    match others.len().saturating_sub(SHOWN_OTHERS) {
        0 => Ok(()),
        more => line(out, "also here", &format!("{more} more: --json has them all")),
    }
}

/// Formats names with their count.
fn counted(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| text::printable(name)).collect();
    match names.len() {
        0 => "none".to_owned(),
        count => format!("{count}: {}", text::join_fitting(&names, NAMES_WIDTH)),
    }
}

fn write_config(
    out: &mut impl Write,
    config: &ConfigInfo,
    generator: Option<&str>,
) -> io::Result<()> {
    line(out, "display name", config.display_name.as_deref().unwrap_or("none"))?;
    line(out, "uuid", config.uuid.as_deref().unwrap_or("none"))?;
    let seed = config.seed.map_or_else(|| "none".to_owned(), |seed| seed.to_string());
    line(out, "seed", &seed)?;
    line(out, "config", &config_line(&config.from, config.version))?;
    let world_gen = config.world_gen.as_deref().unwrap_or("Hytale");
    match generator {
        None => line(out, "generator", world_gen)?,
        Some(ours) => line(out, "generator", &format!("{world_gen}; hyworld generator {ours}"))?,
    }
    line(out, "game time", &config.game_time)?;
    line(out, "spawn", &spawn_line(config.spawn.as_ref()))?;
    if let Some(mode) = &config.game_mode {
        line(out, "game mode", mode)?;
    }
    let switches = config.switches.iter();
    let switches: Vec<_> = switches.map(|(key, is_on)| format!("{key} {is_on}")).collect();
    if !switches.is_empty() {
        line(out, "not default", &switches.join(", "))?;
    }
    if let Some(map) = config.world_map.as_deref().filter(|map| *map != "WorldGen") {
        line(out, "map", map)?;
    }
    if config.crash_recovery {
        line(out, "CrashRecovery", "set, kept unchanged")?;
    }
    if !config.unknown_keys.is_empty() {
        line(out, "other keys", &counted(&config.unknown_keys))?;
    }
    Ok(())
}

fn config_line(from: &LoadedFrom, version: i64) -> String {
    let version = format!("version {version}");
    match from {
        LoadedFrom::Legacy { path } => {
            let name = path.file_name().unwrap_or_default().display();
            format!("{version}, from {name}, the file name of old versions")
        }
        LoadedFrom::Backup { problem } => format!("{version}, from the backup: {problem}"),
        LoadedFrom::Nothing { problem } => format!("all values are the defaults: {problem}"),
        _ => version,
    }
}

fn spawn_line(spawn: Option<&SpawnInfo>) -> String {
    let Some(SpawnInfo { id, x, y, z }) = spawn else {
        return "set by the generator".to_owned();
    };
    let id = id.as_deref().unwrap_or("unknown");
    match (x, y, z) {
        (Some(x), Some(y), Some(z)) => format!("{id}, at {x:.1} {y:.1} {z:.1}"),
        _ => id.to_owned(),
    }
}

fn provider_line(provider: &ProviderConfig, pending: Option<&ProviderConfig>) -> String {
    let name = provider.type_name();
    match pending {
        None => name.to_owned(),
        Some(pending) => {
            let pending = pending.type_name();
            format!("{name}; config.json names {pending}: the game would move the chunks there")
        }
    }
}

fn write_regions(out: &mut impl Write, regions: &RegionTotals) -> io::Result<()> {
    let raw = text::size(regions.raw_bytes);
    if regions.live_bytes > 0 {
        let ratio = text::ratio(regions.raw_bytes, regions.live_bytes);
        line(out, "documents", &format!("{raw}, compressed {ratio}"))?;
    }
    let all = regions.file_bytes;
    let files = text::count(regions.files, "file");
    line(out, "regions", &format!("{files}, {} bytes", text::thousands(all)))?;
    if regions.files == 0 {
        return Ok(());
    }
    let parts = [
        ("live", regions.live_bytes, "blobs with their headers"),
        ("slack", regions.slack_bytes, "unused ends of the last segments of blobs"),
        ("orphaned", regions.orphaned_bytes, "segments without a slot: see `region salvage`"),
        ("overhead", regions.overhead_bytes, "headers and index tables"),
    ];
    text::write_parts(out, all, &parts)
}

fn write_findings(out: &mut impl Write, findings: &Findings) -> io::Result<()> {
    if findings.total() == 0 {
        return Ok(());
    }
    writeln!(out, "\n{}", text::count(findings.total(), "finding"))?;
    for finding in findings.kept().iter().take(SHOWN_FINDINGS) {
        writeln!(out, "  {}", text::printable(&finding.to_string()))?;
    }
    match findings.total().saturating_sub(SHOWN_FINDINGS as u64) {
        0 => Ok(()),
        more => writeln!(out, "  {more} more; `hyworld verify` lists all findings about chunks"),
    }
}
