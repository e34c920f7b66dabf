//! `map WORLD -o OUTPUT`: draws a map as one picture, as tiles with a viewer, or as an archive.

mod picture;
mod tiles;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use hyworld::{
    Location, MapInput, MapProblem, OutputKind, PastState, check_output, check_output_folder,
    load_colors,
};
use hyworld_assets::Colors;
use hyworld_maintenance::ScanOptions;
use hyworld_map::Layer;
use hyworld_providers::ChunkStorage;

use super::upgrade;
use crate::args::map::{LayerArgs, MapArgs};
use crate::exit::{self, Exit};
use crate::output::progress::ChunkProgress;
use crate::output::{Console, text};

/// How many hatched chunks are described.
const SHOWN: usize = 20;

/// The kind of output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Picture,
    Archive,
    Folder,
}

impl Output {
    fn of(path: &Path) -> anyhow::Result<Self> {
        let ending = path.extension().map(OsStr::to_ascii_lowercase);
        let output = match ending.as_ref().and_then(|end| end.to_str()) {
            Some("png" | "webp") => Self::Picture,
            Some("pmtiles") => Self::Archive,
            Some("jpg" | "jpeg" | "gif" | "bmp" | "tif" | "tiff" | "svg" | "mbtiles") => {
                let text = "use a file that ends with .png, .webp or .pmtiles, or a folder";
                return Err(exit::usage(format!("-o {}: {text}", path.display())));
            }
            _ => Self::Folder,
        };
        match output {
            Self::Picture => check_output(path, OutputKind::Picture)?,
            Self::Archive => check_output(path, OutputKind::Archive)?,
            Self::Folder => check_output_folder(path)?,
        }
        if path.is_dir() && output != Self::Folder {
            return Err(exit::usage(format!("-o {}: this is a folder", path.display())));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|it| output != Self::Folder && !it.is_dir()) {
            let (path, folder) = (path.display(), folder.display());
            let text = format!("-o {path}: the folder {folder} does not exist; create it first");
            return Err(exit::usage(text));
        }
        if path.is_file() && output == Self::Folder {
            return Err(exit::usage(format!("-o {}: this is a file", path.display())));
        }
        Ok(output)
    }
}

pub(super) fn run(args: &MapArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let layers = layers(&args.look)?;
    match Output::of(&args.output)? {
        Output::Picture => picture::run(args, one(&layers)?, console),
        Output::Archive => tiles::archive(args, one(&layers)?, console),
        Output::Folder => tiles::folder(args, &layers, console),
    }
}

fn one(layers: &[Layer]) -> anyhow::Result<Layer> {
    match layers {
        [layer] => Ok(*layer),
        _ => Err(exit::usage("several layers need a folder, such as -o map".to_owned())),
    }
}

/// Returns the layers, each once, with the height of slices. Checks what they need.
pub(super) fn layers(look: &LayerArgs) -> anyhow::Result<Vec<Layer>> {
    let mut layers = Vec::new();
    for layer in &look.layers {
        let layer = match layer {
            Layer::Slice(y) if *y == hyworld_map::SLICE_Y_DEFAULT => Layer::Slice(look.y),
            other => *other,
        };
        if !layers.contains(&layer) {
            layers.push(layer);
        }
    }
    if layers.contains(&Layer::Diff) && look.against.is_none() {
        let text = "--layer diff needs --against PATH, the world or backup to compare with";
        return Err(exit::usage(text.to_owned()));
    }
    if layers.contains(&Layer::Age) && look.history.is_empty() {
        let text = "--layer age needs --history PATH, a backup, world or manifest of the past";
        return Err(exit::usage(text.to_owned()));
    }
    Ok(layers)
}

/// The inputs of a map's layers, besides its chunks.
pub(super) struct Look {
    pub(super) assets: Option<PathBuf>,
    colors: Colors,
    against: Option<Box<dyn ChunkStorage>>,
    history: Vec<PastState>,
}

impl Look {
    pub(super) fn open(
        args: &LayerArgs,
        layers: &[Layer],
        (location, path): (&Location, &Path),
        console: &Console,
    ) -> anyhow::Result<Self> {
        let folder = location.world_folder();
        let around = folder.as_deref().unwrap_or(path);
        let assets = upgrade::assets(args.assets.assets.as_deref(), around)?;
        let colors = load_colors(assets.as_deref(), folder.as_deref())?;
        let against = args.against.as_deref().filter(|_| layers.contains(&Layer::Diff));
        let against = against.map(|path| Location::source(path)?.open()).transpose()?;
        let mut history = Vec::new();
        if layers.contains(&Layer::Age) {
            let options = ScanOptions::new().jobs(console.jobs());
            for path in &args.history {
                let bar = ChunkProgress::new(console, "reading the past", None);
                history.push(PastState::open(path, &options, &bar)?);
            }
            history.sort_by_key(|past| std::cmp::Reverse(past.time_ms));
        }
        Ok(Self { assets, colors, against, history })
    }

    pub(super) fn input<'a>(
        &'a self,
        args: &LayerArgs,
        storage: &'a dyn ChunkStorage,
    ) -> MapInput<'a> {
        MapInput {
            palette: args.palette,
            against: self.against.as_deref(),
            history: &self.history,
            ..MapInput::new(storage, &self.colors)
        }
    }

    /// Returns the chunks of the other world.
    fn other_positions(&self) -> anyhow::Result<Vec<hyworld_coords::ChunkPos>> {
        let Some(against) = &self.against else { return Ok(Vec::new()) };
        Ok(against.positions().collect::<Result<_, _>>()?)
    }
}

/// Prints a note if the colours do not come from the game's assets.
fn print_color_note(console: &mut Console, look: &Look, layers: &[Layer]) -> anyhow::Result<()> {
    if look.assets.is_none() && layers.contains(&Layer::Surface) {
        let text = "colours by name, because no game assets were found or --assets is none";
        console.say(format_args!("note: {text}; use --assets PATH for the game's colours"))?;
    }
    Ok(())
}

/// Reports chunks that are hatched. Chunks of newer games are not problems of the data.
fn complain(
    console: &mut Console,
    problems: &[MapProblem],
    (damaged, newer): (u64, u64),
) -> anyhow::Result<Exit> {
    for problem in problems.iter().filter(|problem| problem.is_damaged).take(SHOWN) {
        let (at, text) = (problem.at, &problem.text);
        exit::complain(&exit::problem(format!("chunk {},{} is hatched: {text}", at.x, at.z)));
    }
    if newer > 0 {
        let chunks = text::count(newer, "chunk");
        let example = problems.iter().find(|problem| !problem.is_damaged);
        let text = example.map_or("written by a newer game", |problem| &problem.text);
        console.say(format_args!("note: {chunks} hatched in violet: {text}"))?;
    }
    if damaged == 0 {
        return Ok(Exit::Clean);
    }
    let chunks = text::count(damaged, "damaged chunk");
    console.say(format_args!("{chunks} hatched in red; `hyworld repair` can help"))?;
    Ok(Exit::Problems)
}
