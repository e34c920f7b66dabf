//! `block PATH X Y Z`: shows everything about one block.

use std::fmt;
use std::io::{self, Write};

use anyhow::Context;
use hyworld::StoredChunk;
use hyworld_chunk::bson::{JsonText, RawDocument};
use hyworld_chunk::{AssetKey, BlockPhysics, Chunk, FluidRef, Holder, Light, LightValue, Rotation};
use hyworld_coords::{BlockPos, ChunkBlock, MAX_Y, MIN_Y};
use serde::Serialize;

use super::upgrade;
use crate::args::chunk::BlockArgs;
use crate::exit::{self, Exit};
use crate::output::json::Position;
use crate::output::{Console, json, text};

pub(super) fn run(args: &BlockArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let pos = BlockPos::new(args.x, args.y, args.z);
    let Some(at) = pos.in_chunk() else {
        let y = args.y;
        return Err(exit::usage(format!("y is {y}, but blocks have y from {MIN_Y} to {MAX_Y}")));
    };
    let located = StoredChunk::find(&args.path, pos.chunk())?;
    let mut chunk = located.chunk()?;
    upgrade::rename(&mut chunk, &upgrade::migrations(&args.assets, &args.path)?);
    let file = (!args.without_paths).then(|| located.path.display().to_string());
    let stored = StoredAt::new(pos, at, file);
    let entity = chunk.block_entity(at).with_context(|| located.name())?;
    let ids = entity.map(|entity| entity.ids().collect::<Vec<_>>().join(", "));
    let ids = ids.as_deref().unwrap_or("none");
    match Report::new(&chunk, pos, at, &stored) {
        Ok(report) if args.json => write_json(console, &report, entity)?,
        Ok(report) => report.write(console, at, ids)?,
        Err(error) if error.newer_component().is_some() => {
            let part = Part { at: pos.into(), block: None, stored: &stored };
            if args.json {
                write_json(console, &part, entity)?;
            } else {
                part.write(console, at, ids)?;
            }
            console.flush_data()?;
            exit::complain(&exit::problem(format!("{}: {error}", located.name())));
            return Ok(Exit::Problems);
        }
        Err(error) => return Err(error).with_context(|| located.name()),
    }
    Ok(Exit::Clean)
}

fn write_json(
    console: &mut Console,
    report: &impl Serialize,
    entity: Option<&Holder>,
) -> anyhow::Result<()> {
    let document = entity.map(Holder::encode);
    let document = document.as_deref().and_then(|document| RawDocument::new(document).ok());
    let text = document.map_or_else(|| "null".to_owned(), |it| JsonText::from(it).to_string());
    json::line_with(console, report, "block_entity", text)
}

/// The JSON object of a block that a newer game wrote, without the block entity.
#[derive(Debug, Serialize)]
struct Part<'a> {
    #[serde(flatten)]
    at: Cell,
    /// Always null, because the block is not known.
    block: Option<&'a str>,
    #[serde(flatten)]
    stored: &'a StoredAt,
}

/// Where a block is stored.
#[derive(Debug, Serialize)]
struct StoredAt {
    chunk: Position,
    section: u8,
    cell: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    region: Position,
    slot: u16,
}

impl StoredAt {
    fn new(pos: BlockPos, at: ChunkBlock, file: Option<String>) -> Self {
        Self {
            chunk: pos.chunk().into(),
            section: at.section().index(),
            cell: at.local().index(),
            file,
            region: pos.region().into(),
            slot: pos.chunk().slot().index(),
        }
    }

    fn write(&self, out: &mut impl Write, at: ChunkBlock) -> io::Result<()> {
        let section = at.section();
        let heights = format!("y {} to {}", section.first_y(), section.last_y());
        line(out, "chunk", &format!("{}, section {section} ({heights})", self.chunk))?;
        self.file.iter().try_for_each(|file| line(out, "file", file))?;
        let (x, z) = (self.slot % 32, self.slot / 32);
        line(out, "slot", &format!("{} (x {x}, z {z})", self.slot))
    }
}

impl Part<'_> {
    fn write(&self, out: &mut impl Write, at: ChunkBlock, entity: &str) -> io::Result<()> {
        line(out, "position", &self.at.to_string())?;
        line(out, "block", "not supported yet")?;
        line(out, "block entity", entity)?;
        self.stored.write(out, at)
    }
}

fn line(out: &mut impl Write, name: &str, what: &str) -> io::Result<()> {
    writeln!(out, "{}", text::printable(&format!("  {name:<13}  {what}")).trim_end())
}

/// The JSON object without the block entity. The order of keys is part of the documented output.
#[derive(Debug, Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    at: Cell,
    block: &'a str,
    rotation: Turned,
    filler: Offset,
    base: Option<Cell>,
    ticking: bool,
    fluid: &'a str,
    fluid_level: u8,
    support: u8,
    local_light: Lit,
    global_light: Lit,
    environment: &'a str,
    height: i16,
    tint: String,
    #[serde(flatten)]
    stored: &'a StoredAt,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Cell {
    x: i32,
    y: i32,
    z: i32,
}

impl From<BlockPos> for Cell {
    fn from(pos: BlockPos) -> Self {
        Self { x: pos.x, y: pos.y, z: pos.z }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.x, self.y, self.z)
    }
}

/// A rotation in degrees; null if the index is invalid.
#[derive(Debug, Serialize)]
struct Turned {
    index: u8,
    yaw: Option<u16>,
    pitch: Option<u16>,
    roll: Option<u16>,
}

#[derive(Debug, Serialize)]
struct Offset {
    bits: u16,
    x: i8,
    y: i8,
    z: i8,
}

#[derive(Debug, Serialize)]
struct Lit {
    red: u8,
    green: u8,
    blue: u8,
    sky: u8,
    stored: bool,
    current: bool,
}

impl<'a> Report<'a> {
    fn new(
        chunk: &'a Chunk,
        pos: BlockPos,
        at: ChunkBlock,
        stored: &'a StoredAt,
    ) -> hyworld_chunk::Result<Self> {
        let block = chunk.block(at)?;
        let section = chunk.section(at.section()).blocks()?;
        let (filler, fluid) = (block.filler(), block.fluid()?);
        let base = |(pos, by): (i32, i8)| pos.checked_sub(by.into());
        let base = [(pos.x, filler.x()), (pos.y, filler.y()), (pos.z, filler.z())].map(base);
        Ok(Self {
            at: pos.into(),
            block: block.name(),
            rotation: Turned::new(block.rotation()),
            filler: Offset { bits: filler.bits(), x: filler.x(), y: filler.y(), z: filler.z() },
            base: match base {
                [Some(x), Some(y), Some(z)] => Some(Cell { x, y, z }),
                _ => None,
            },
            ticking: block.is_ticking(),
            fluid: fluid.map_or(AssetKey::EMPTY_NAME, FluidRef::name),
            fluid_level: fluid.map_or(0, FluidRef::level),
            support: block.support()?,
            local_light: Lit::new(
                block.local_light(),
                &section.local_light,
                section.local_change_counter,
            ),
            global_light: Lit::new(
                block.light(),
                &section.global_light,
                section.global_change_counter,
            ),
            environment: block.environment()?,
            height: chunk.height(at.column())?,
            tint: tint(chunk.tint(at.column())?),
            stored,
        })
    }

    fn write(&self, out: &mut impl Write, at: ChunkBlock, entity: &str) -> io::Result<()> {
        let mut line = |name: &str, what: &str| line(out, name, what);
        line("position", &self.at.to_string())?;
        line("block", self.block)?;
        line("rotation", &self.rotation.words())?;
        line("filler", &self.filler_words())?;
        line("ticking", if self.ticking { "yes" } else { "no" })?;
        match self.fluid {
            AssetKey::EMPTY_NAME => line("fluid", "none")?,
            name => line("fluid", &format!("{name}, level {}", self.fluid_level))?,
        }
        line("support", &support(self.support))?;
        line("local light", &self.local_light.words())?;
        line("global light", &self.global_light.words())?;
        line("environment", self.environment)?;
        line("column", &format!("height {}, tint {}", self.height, self.tint))?;
        line("block entity", entity)?;
        self.stored.write(out, at)
    }

    /// Describes which cell of a multi-block object this is.
    fn filler_words(&self) -> String {
        let Offset { bits, x, y, z } = self.filler;
        if bits == 0 {
            return "none: this is the base cell".to_owned();
        }
        let base = self.base.map(|base| format!(" at {base}"));
        format!("this is {x:+},{y:+},{z:+} from the base cell{}", base.unwrap_or_default())
    }
}

impl Turned {
    fn new(rotation: Rotation) -> Self {
        let degrees = |turns: u8| rotation.is_valid().then_some(u16::from(turns) * 90);
        let [yaw, pitch, roll] = [rotation.yaw(), rotation.pitch(), rotation.roll()].map(degrees);
        Self { index: rotation.index(), yaw, pitch, roll }
    }

    /// Describes the rotation, with the direction if only yaw is set.
    fn words(&self) -> String {
        let (Some(yaw), Some(pitch), Some(roll)) = (self.yaw, self.pitch, self.roll) else {
            return format!("index {}, which is not valid", self.index);
        };
        let faces = match yaw {
            0 => "-z",
            90 => "-x",
            180 => "+z",
            _ => "+x",
        };
        match (self.index, pitch, roll) {
            (0, _, _) => "none".to_owned(),
            (_, 0, 0) => format!("yaw {yaw} degrees, towards {faces}"),
            _ => format!("yaw {yaw}, pitch {pitch}, roll {roll} degrees"),
        }
    }
}

fn support(support: u8) -> String {
    match support {
        0 => "none".to_owned(),
        BlockPhysics::DECORATION => "decoration, never falls".to_owned(),
        distance => format!("{} from its support", text::count(distance, "block")),
    }
}

impl Lit {
    fn new(value: LightValue, light: &Light, counter: u16) -> Self {
        Self {
            red: value.red(),
            green: value.green(),
            blue: value.blue(),
            sky: value.sky(),
            stored: light.tree.is_some(),
            current: light.is_current(counter),
        }
    }

    fn words(&self) -> String {
        let Self { red, green, blue, sky, stored, current } = self;
        let stale = if *current { "" } else { ", stale" };
        match (stored, current) {
            (true, _) => format!("red {red}, green {green}, blue {blue}, sky {sky}{stale}"),
            (false, true) => "none".to_owned(),
            (false, false) => "not computed yet".to_owned(),
        }
    }
}

/// Formats a tint as `#rrggbb`, or `#aarrggbb` if it is not opaque.
pub(super) fn tint(tint: i32) -> String {
    match tint.to_be_bytes() {
        [0xFF, rgb @ ..] => format!("#{}", text::hex(&rgb)),
        argb => format!("#{}", text::hex(&argb)),
    }
}
