//! `world create UNIVERSE NAME`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use hyworld_providers::ProviderConfig;
use hyworld_world::{BuiltInGenerator, Universe, WorldName, WorldOptions, WorldSettings};
use serde::Serialize;

use crate::args::world::CreateArgs;
use crate::exit::Exit;
use crate::output::{Console, json};

pub(super) fn run(args: &CreateArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let name = WorldName::new(&args.name)?;
    let is_new = is_new(&args.universe)?;
    if args.dry_run {
        let path = if is_new {
            args.universe.join("worlds").join(&args.name)
        } else {
            hyworld::find_universe(&args.universe)?.free_path(&name)?
        };
        let folder = args.universe.display();
        if is_new && !args.json {
            console.report(format_args!("{folder}: universe would be created"))?;
        }
        return report(args, console, &Made { path, is_new, settings: settings(args) });
    }
    let universe = if is_new {
        Universe::create(&args.universe)?
    } else {
        hyworld::find_universe(&args.universe)?
    };
    if is_new && !args.json {
        console.report(format_args!("{}: universe created", args.universe.display()))?;
    }
    let path = match args.generator.built_in() {
        Some(ours) => universe.create_generated_world(&name, settings(args), ours)?,
        None => universe.create_world(&name, settings(args))?,
    };
    warn_of_provider(args, console)?;
    let made = WorldOptions::new().without_chunks().open(&path)?;
    let settings = made.config().map_err(Clone::clone)?.settings.clone();
    report(args, console, &Made { path, is_new, settings })
}

/// Warns if this build cannot open the provider of the new world. The game still can.
fn warn_of_provider(args: &CreateArgs, console: &mut Console) -> anyhow::Result<()> {
    if let Err(error) = hyworld::registry().check(&args.provider) {
        console.say(format_args!("warning: {error}"))?;
    }
    Ok(())
}

/// Returns whether the folder of the universe is missing or empty.
fn is_new(folder: &Path) -> anyhow::Result<bool> {
    if !folder.is_dir() {
        return Ok(!folder.exists());
    }
    let context = || format!("{}: cannot list", folder.display());
    Ok(folder.read_dir().with_context(context)?.next().is_none())
}

fn settings(args: &CreateArgs) -> WorldSettings {
    let mut settings = WorldSettings::default();
    settings.seed = args.seed;
    settings.display_name.clone_from(&args.display_name);
    settings.chunk_storage = ProviderConfig::new(&args.provider);
    settings
}

struct Made {
    path: PathBuf,
    is_new: bool,
    settings: WorldSettings,
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    name: &'a str,
    path: String,
    universe: String,
    universe_created: bool,
    uuid: Option<String>,
    display_name: Option<&'a str>,
    seed: Option<i64>,
    generator: Option<&'static str>,
    provider: &'a str,
    dry_run: bool,
}

fn report(args: &CreateArgs, console: &mut Console, made: &Made) -> anyhow::Result<Exit> {
    let (path, settings) = (made.path.display(), &made.settings);
    let generator = args.generator.built_in().map(BuiltInGenerator::name);
    if args.json {
        let report = Report {
            name: &args.name,
            path: path.to_string(),
            universe: args.universe.display().to_string(),
            universe_created: made.is_new,
            uuid: settings.uuid.map(|uuid| uuid.to_string()),
            display_name: settings.display_name.as_deref(),
            seed: settings.seed,
            generator,
            provider: &args.provider,
            dry_run: args.dry_run,
        };
        json::line(console, &report)?;
        return Ok(Exit::Clean);
    }
    let generator = generator.unwrap_or("the game's");
    let seed = settings.seed.map_or_else(|| "random".to_owned(), |seed| seed.to_string());
    let would = if args.dry_run { "would be created" } else { "created" };
    let provider = &args.provider;
    console.report(format_args!(
        "{path}: world {would}; generator: {generator}, seed: {seed}, provider: {provider}"
    ))?;
    Ok(Exit::Clean)
}
