//! `resource <verb>`: lists and shows resources of worlds and universes.

use std::io::Write;

use hyworld::documents::{JsonText, Kind};
use hyworld::{NamedResources, resources_at};
use hyworld_world::{Loaded, LoadedFrom};
use serde::Serialize;

use crate::args::resource::{ListArgs, ShowArgs, Verb};
use crate::exit::{self, Exit};
use crate::output::table::Table;
use crate::output::{Console, json, text};

/// The maximum width of a name.
const NAME_WIDTH: usize = 40;

pub(super) fn run(verb: &Verb, console: &mut Console) -> anyhow::Result<Exit> {
    match verb {
        Verb::List(args) => list(args, console),
        Verb::Show(args) => show(args, console),
    }
}

#[derive(Debug, Serialize)]
struct Line<'a> {
    world: Option<&'a str>,
    id: &'a str,
    keys: usize,
    bytes: usize,
    finding: Option<String>,
}

fn list(args: &ListArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let mut table = Table::new("owner|id|>keys|>size|");
    let mut is_clean = true;
    for NamedResources { world, resources } in resources_at(&args.path)? {
        for id in resources.ids()? {
            let loaded = resources.load(&id)?;
            let finding = finding_about(&loaded);
            is_clean &= finding.is_none();
            let line = Line {
                world: world.as_deref(),
                id: &id,
                keys: loaded.document.fields().len(),
                bytes: loaded.document.to_json().len(),
                finding,
            };
            if args.json {
                json::line(console, &line)?;
            } else {
                table.row(row(&line));
            }
        }
    }
    if !args.json {
        if !table.is_empty() {
            table.write(console, "")?;
        }
        let resources = text::count(table.len() as u64, "resource");
        console.say(format_args!("{}: {resources}", args.path.display()))?;
    }
    Ok(if is_clean { Exit::Clean } else { Exit::Problems })
}

fn row(line: &Line<'_>) -> [String; 5] {
    let of = line.world.map_or("universe".to_owned(), |world| format!("world {world}"));
    [
        text::short(&of, NAME_WIDTH),
        text::short(line.id, NAME_WIDTH),
        text::thousands(line.keys as u64),
        text::size(line.bytes as u64),
        line.finding.as_deref().map(text::printable).unwrap_or_default(),
    ]
}

fn finding_about(loaded: &Loaded) -> Option<String> {
    match &loaded.from {
        LoadedFrom::Backup { problem } => Some(format!("from the backup: {problem}")),
        LoadedFrom::Nothing { problem } => Some(problem.to_string()),
        _ => None,
    }
}

#[derive(Debug, Serialize)]
struct Found<'a> {
    world: Option<&'a str>,
    id: &'a str,
}

fn show(args: &ShowArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let mut found = Vec::new();
    for NamedResources { world, resources } in resources_at(&args.path)? {
        if resources.ids()?.contains(&args.id) {
            found.push((world, resources.load(&args.id)?));
        }
    }
    let (path, id) = (args.path.display(), &args.id);
    let [(world, loaded)] = found.as_slice() else {
        if found.is_empty() {
            let list = format!("hyworld resource list {}", hyworld::files::shell_word(&args.path));
            let advice = format!("see `{list}`");
            return Err(exit::usage(format!("{path}: no resource {id}; {advice}")));
        }
        let worlds = text::count(found.len() as u64, "world");
        let advice = "name one of them with --world NAME";
        return Err(exit::usage(format!("{path}: {worlds} have a resource {id}; {advice}")));
    };
    if let LoadedFrom::Nothing { problem } = &loaded.from {
        return Err(exit::problem(format!("{path}: resource {id}: {problem}")));
    }
    if args.json {
        let bytes = loaded.document.to_bytes();
        let value = JsonText::new(Kind::DOCUMENT, &bytes);
        json::line_with(console, &Found { world: world.as_deref(), id }, "value", value)?;
    } else {
        writeln!(console, "{}", loaded.document.to_json())?;
    }
    Ok(Exit::Clean)
}
