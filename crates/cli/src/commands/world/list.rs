//! `world list PATH`.

use hyworld::{Info, InfoOptions, WorldInfo};
use hyworld_maintenance::ScanOptions;
use hyworld_providers::ProviderConfig;
use serde::Serialize;

use crate::args::world::ListArgs;
use crate::exit::{self, Exit};
use crate::output::table::Table;
use crate::output::{Console, json, text};

/// The maximum width of a display name.
const NAME_WIDTH: usize = 30;

pub(super) fn run(args: &ListArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let mut table = Table::new("name|display name|>seed|provider|>chunks|>size");
    let mut printed = Ok(());
    let options = InfoOptions { fast: true, scan: ScanOptions::new().jobs(console.jobs()) };
    let findings = Info::worlds(&args.path, &options, |world| {
        if !args.json {
            table.row(row(&world));
        } else if printed.is_ok() {
            printed = json::line(console, &Line::new(&world));
        }
    })?;
    printed?;
    if !table.is_empty() {
        table.write(console, "")?;
    }
    if !args.json {
        let worlds = text::count(table.len() as u64, "world");
        console.say(format_args!("{}: {worlds}", args.path.display()))?;
    }
    for finding in findings.kept() {
        exit::complain(&exit::problem(finding.to_string()));
    }
    Ok(if findings.total() == 0 { Exit::Clean } else { Exit::Problems })
}

/// Returns the size of the region files of a world.
fn bytes(world: &WorldInfo) -> Option<u64> {
    let regions = world.storage.as_ref().and_then(|stored| stored.regions);
    regions.map(|regions| regions.file_bytes)
}

fn row(world: &WorldInfo) -> [String; 6] {
    let config = world.config.as_ref();
    let display_name = config.and_then(|config| config.display_name.as_deref());
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let provider = world.provider.as_ref().map(ProviderConfig::type_name);
    [
        text::printable(&world.name),
        or_dash(display_name.map(|name| text::short(name, NAME_WIDTH))),
        or_dash(config.and_then(|config| config.seed).map(|seed| seed.to_string())),
        or_dash(provider.map(|provider| text::short(provider, NAME_WIDTH))),
        or_dash(world.storage.as_ref().map(|stored| text::thousands(stored.chunks))),
        or_dash(bytes(world).map(text::size)),
    ]
}

#[derive(Debug, Serialize)]
struct Line<'a> {
    name: &'a str,
    path: String,
    display_name: Option<&'a str>,
    uuid: Option<&'a str>,
    seed: Option<i64>,
    provider: Option<serde_json::Value>,
    pending_provider: Option<serde_json::Value>,
    chunks: Option<u64>,
    bytes: Option<u64>,
}

impl<'a> Line<'a> {
    fn new(world: &'a WorldInfo) -> Self {
        let config = world.config.as_ref();
        Self {
            name: &world.name,
            path: world.path.display().to_string(),
            display_name: config.and_then(|config| config.display_name.as_deref()),
            uuid: config.and_then(|config| config.uuid.as_deref()),
            seed: config.and_then(|config| config.seed),
            provider: world.provider.as_ref().map(ProviderConfig::to_json),
            pending_provider: world.pending_provider.as_ref().map(ProviderConfig::to_json),
            chunks: world.storage.as_ref().map(|stored| stored.chunks),
            bytes: bytes(world),
        }
    }
}
