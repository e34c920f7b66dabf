//! `world list PATH`.

use hyworld_providers::ProviderConfig;
use hyworld_world::discover;
use serde_json::{Value, json};

use crate::args::world::ListArgs;
use crate::commands::info::Problems;
use crate::commands::info::world::WorldInfo;
use crate::exit::{self, Exit};
use crate::output::table::{Align, Table};
use crate::output::{Console, json, text};

/// Characters of a name that players see.
const NAME_WIDTH: usize = 30;

const COLUMNS: [(&str, Align); 6] = [
    ("name", Align::Left),
    ("display name", Align::Left),
    ("seed", Align::Right),
    ("provider", Align::Left),
    ("chunks", Align::Right),
    ("size", Align::Right),
];

pub(super) fn run(args: &ListArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let name = args.path.display();
    if !args.path.exists() {
        return Err(exit::usage(format!("{name}: no such file or folder")));
    }
    let mut problems = Problems::default();
    let mut table = Table::new(&COLUMNS);
    for entry in discover(&args.path)?.worlds()? {
        let mut world = WorldInfo::of(&entry, &mut problems);
        world.look_at_chunks(true, console, &mut problems);
        if args.json {
            json::line(console, &object(&world))?;
        } else {
            table.row(row(&world));
        }
    }
    if !args.json && !table.is_empty() {
        table.write(console, "")?;
    }
    if !args.json {
        console.say(format_args!("{name}: {}", text::count(table.len() as u64, "world")))?;
    }
    for problem in &problems.texts {
        exit::complain(&exit::problem(problem.clone()));
    }
    Ok(if problems.count == 0 { Exit::Clean } else { Exit::Problems })
}

/// Bytes of the region files of a world.
fn bytes(world: &WorldInfo) -> Option<u64> {
    let regions = world.stored.as_ref().and_then(|stored| stored.regions);
    regions.map(|regions| regions.file_bytes)
}

fn row(world: &WorldInfo) -> [String; 6] {
    let settings = world.config.as_ref().map(|config| &config.config.settings);
    let display_name = settings.and_then(|settings| settings.display_name.as_deref());
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let provider = world.provider.as_ref().map(ProviderConfig::type_name);
    [
        text::printable(&world.name),
        or_dash(display_name.map(|name| text::short(name, NAME_WIDTH))),
        or_dash(settings.and_then(|settings| settings.seed).map(|seed| seed.to_string())),
        or_dash(provider.map(|provider| text::short(provider, NAME_WIDTH))),
        or_dash(world.stored.as_ref().map(|stored| text::thousands(stored.chunks))),
        or_dash(bytes(world).map(text::size)),
    ]
}

fn object(world: &WorldInfo) -> Value {
    let settings = world.config.as_ref().map(|config| &config.config.settings);
    let uuid = settings.and_then(|settings| settings.uuid);
    json!({
        "name": world.name, "path": world.path.display().to_string(),
        "display_name": settings.and_then(|settings| settings.display_name.clone()),
        "uuid": uuid.map(|uuid| uuid.to_string()),
        "seed": settings.and_then(|settings| settings.seed),
        "provider": world.provider.as_ref().map(ProviderConfig::to_json),
        "pending_provider": world.pending.as_ref().map(ProviderConfig::to_json),
        "chunks": world.stored.as_ref().map(|stored| stored.chunks), "bytes": bytes(world),
    })
}
