//! `info PATH`: what a path is, which worlds are there, what they say and how much is in them.

mod json;
mod show;
mod storage;
mod universe;
pub(super) mod world;

use std::path::{Path, PathBuf};

use hyworld_providers::{Access, RegionFilesOptions};
use hyworld_world::{Place, discover};

use crate::args::info::InfoArgs;
use crate::exit::{self, Exit};
use crate::output::Console;
use storage::Stored;
use universe::UniverseInfo;
use world::WorldInfo;

/// How many problems are kept. A world that is damaged all over needs no longer list.
const KEPT_PROBLEMS: usize = 100;

pub(super) fn run(args: &InfoArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let info = Info::gather(args, console)?;
    if args.json {
        crate::output::json::line(console, &info.json())?;
    } else {
        info.write(console)?;
    }
    Ok(if info.problems.count == 0 { Exit::Clean } else { Exit::Problems })
}

/// All that is shown.
struct Info {
    path: PathBuf,
    kind: &'static str,
    universe: Option<UniverseInfo>,
    worlds: Vec<WorldInfo>,
    /// Of a path that is less than a world.
    storage: Option<Stored>,
    problems: Problems,
    is_fast: bool,
}

/// What could not be read. The rest is shown all the same.
#[derive(Debug, Default)]
pub(super) struct Problems {
    pub(super) count: u64,
    pub(super) texts: Vec<String>,
}

impl Problems {
    fn add(&mut self, text: String) {
        self.count = self.count.saturating_add(1);
        if self.texts.len() < KEPT_PROBLEMS {
            self.texts.push(text);
        }
    }
}

impl Info {
    fn gather(args: &InfoArgs, console: &Console) -> anyhow::Result<Self> {
        let path = &args.path;
        if !path.exists() {
            return Err(exit::usage(format!("{}: no such file or folder", path.display())));
        }
        let place = discover(path)?;
        let mut problems = Problems::default();
        let universe = match &place {
            Place::Save { universe } | Place::Universe { universe } => {
                Some(UniverseInfo::of(universe, &mut problems))
            }
            _ => None,
        };
        let storage = part(&place, args, console, &mut problems)?;
        let mut worlds = Vec::new();
        for entry in place.worlds()? {
            let mut world = WorldInfo::of(&entry, &mut problems);
            if storage.is_none() {
                world.look_at_chunks(args.fast, console, &mut problems);
            }
            worlds.push(world);
        }
        let (path, kind, is_fast) = (path.clone(), place.kind(), args.fast);
        Ok(Self { path, kind, universe, worlds, storage, problems, is_fast })
    }
}

/// The chunks of a path that is less than a world.
fn part(
    place: &Place,
    args: &InfoArgs,
    console: &Console,
    problems: &mut Problems,
) -> anyhow::Result<Option<Stored>> {
    let options = RegionFilesOptions::new().access(Access::ReadOnly);
    let files = match place {
        Place::Chunks { path, .. } => options.open(path)?,
        Place::Region { path, region, .. } => {
            // An empty folder name is the current folder, which has a name of its own.
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            options.only(*region).open(folder.unwrap_or_else(|| Path::new(".")))?
        }
        _ => return Ok(None),
    };
    let place = args.path.display().to_string();
    let stored = Stored::of(&place, &files, Some(&files), args.fast, console, problems);
    Ok(Some(Stored { place, ..stored }))
}
