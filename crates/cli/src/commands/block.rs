//! `block PATH X Y Z`: everything that is known about one block.

mod report;

use std::io::{self, Write};

use anyhow::Context;
use hyworld::StoredChunk;
use hyworld_chunk::bson::{JsonText, RawDocument};
use hyworld_chunk::{
    AssetKey, BlockComponentChunk, BlockPhysics, BlockRef, BlockSection, FluidRef, Light,
    LightValue, Rotation,
};
use hyworld_coords::{BlockPos, ChunkBlock, MAX_Y, MIN_Y};
use report::{Cell, LightObject, Report};

use crate::args::chunk::BlockArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, json, text};

pub(super) fn run(args: &BlockArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let pos = BlockPos::new(args.x, args.y, args.z);
    let Some(at) = pos.in_chunk() else {
        let y = args.y;
        return Err(exit::usage(format!("y is {y}, but blocks have y from {MIN_Y} to {MAX_Y}")));
    };
    let located = StoredChunk::find(&args.path, pos.chunk())?;
    let chunk = located.chunk()?;
    let read = || -> hyworld_chunk::Result<_> {
        let block = chunk.block(at)?;
        let entity = chunk.get::<BlockComponentChunk>()?.and_then(|entities| entities.get(at));
        let (height, tint) = (chunk.height(at.column())?, tint(chunk.tint(at.column())?));
        let section = chunk.section(at.section()).blocks()?;
        Ok((block, entity, height, tint, section))
    };
    let (block, entity, height, tint, section) = read().with_context(|| located.name())?;
    let shown = Shown {
        pos,
        at,
        block,
        fluid: block.fluid().with_context(|| located.name())?,
        support: block.support().with_context(|| located.name())?,
        environment: block.environment().with_context(|| located.name())?,
        section,
        height,
        tint,
        located: &located,
        entity: entity.map(|holder| (holder.encode(), holder.ids().map(str::to_owned).collect())),
    };
    if args.json {
        shown.print_json(console)?;
    } else {
        shown.write(console)?;
    }
    Ok(Exit::Clean)
}

struct Shown<'a> {
    pos: BlockPos,
    at: ChunkBlock,
    block: BlockRef<'a>,
    fluid: Option<FluidRef<'a>>,
    support: u8,
    environment: &'a str,
    section: &'a BlockSection,
    height: i16,
    tint: String,
    located: &'a StoredChunk,
    /// The document of the block entity, and the ids of its components.
    entity: Option<(Vec<u8>, Vec<String>)>,
}

impl Shown<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let BlockPos { x, y, z } = self.pos;
        let block = self.block;
        let mut line = |name: &str, what: &str| {
            writeln!(out, "{}", text::printable(&format!("  {name:<13}  {what}")).trim_end())
        };
        line("position", &format!("{x},{y},{z}"))?;
        line("block", block.name())?;
        line("rotation", &rotation(block.rotation()))?;
        line("filler", &self.filler())?;
        line("ticking", if block.is_ticking() { "yes" } else { "no" })?;
        line("fluid", &fluid(self.fluid))?;
        line("support", &support(self.support))?;
        let [local, global] = self.lights();
        line("local light", &light(block.local_light(), local))?;
        line("global light", &light(block.light(), global))?;
        line("environment", self.environment)?;
        line("column", &format!("height {}, tint {}", self.height, self.tint))?;
        let ids = self.entity.as_ref().map(|(_, ids)| ids.join(", "));
        line("block entity", ids.as_deref().unwrap_or("none"))?;
        let (chunk, section) = (self.pos.chunk(), self.at.section());
        let heights = format!("y {} to {}", section.first_y(), section.last_y());
        line("chunk", &format!("{},{}, section {section} ({heights})", chunk.x, chunk.z))?;
        line("file", &format!("{}", self.located.path.display()))?;
        let slot = chunk.slot();
        line("place", &format!("slot {} (x {}, z {})", slot.index(), slot.x(), slot.z()))
    }

    /// Which cell of a large block it is.
    fn filler(&self) -> String {
        let filler = self.block.filler();
        if filler.is_base() {
            return "none: this is the block itself".to_owned();
        }
        let (x, y, z) = (filler.x(), filler.y(), filler.z());
        let base = self.base().map(|base| format!(" at {},{},{}", base.x, base.y, base.z));
        format!("this is {x:+},{y:+},{z:+} from the block{}", base.unwrap_or_default())
    }

    /// The base of the block that this cell is a part of.
    fn base(&self) -> Option<BlockPos> {
        let filler = self.block.filler();
        let x = self.pos.x.checked_sub(filler.x().into())?;
        let y = self.pos.y.checked_sub(filler.y().into())?;
        Some(BlockPos::new(x, y, self.pos.z.checked_sub(filler.z().into())?))
    }

    /// Both lights of the section: whether they are stored, and whether they are current.
    fn lights(&self) -> [Stored; 2] {
        let of = |light: &Light, counter| Stored {
            is_stored: light.tree.is_some(),
            is_current: light.is_current(counter),
        };
        let section = self.section;
        [
            of(&section.local_light, section.local_change_counter),
            of(&section.global_light, section.global_change_counter),
        ]
    }

    /// The keys in their order are a promise.
    fn print_json(&self, console: &mut Console) -> anyhow::Result<()> {
        let (block, base) = (self.block, self.base());
        let (chunk, region) = (self.pos.chunk(), self.pos.region());
        let [local, global] = self.lights();
        let report = Report {
            at: self.pos.into(),
            block: block.name(),
            rotation: block.rotation().into(),
            filler: block.filler().into(),
            base: base.map(Cell::from),
            ticking: block.is_ticking(),
            fluid: self.fluid.map_or(AssetKey::EMPTY_NAME, FluidRef::name),
            fluid_level: self.fluid.map_or(0, FluidRef::level),
            support: self.support,
            local_light: LightObject::new(block.local_light(), local),
            global_light: LightObject::new(block.light(), global),
            environment: self.environment,
            height: self.height,
            tint: &self.tint,
            chunk: chunk.into(),
            section: self.at.section().index(),
            cell: self.at.local().index(),
            file: self.located.path.display().to_string(),
            region: region.into(),
            slot: chunk.slot().index(),
        };
        let document = self.entity.as_ref().map(|(document, _)| RawDocument::new(document));
        let document = document.and_then(Result::ok).map(JsonText::from);
        let document = document.map_or_else(|| "null".to_owned(), |json| json.to_string());
        json::line_with(console, &report, "block_entity", document)
    }
}

#[derive(Clone, Copy)]
struct Stored {
    is_stored: bool,
    is_current: bool,
}

/// Which way a block is turned, in words. Where yaw alone turns it, it is clear where it faces.
fn rotation(rotation: Rotation) -> String {
    let degrees = |turns: u8| u16::from(turns) * 90;
    if !rotation.is_valid() {
        return format!("number {}, which means nothing", rotation.index());
    }
    let faces = match rotation.yaw() {
        0 => "-z",
        1 => "-x",
        2 => "+z",
        _ => "+x",
    };
    let (yaw, pitch, roll) =
        (degrees(rotation.yaw()), degrees(rotation.pitch()), degrees(rotation.roll()));
    match (rotation.index(), pitch, roll) {
        (0, _, _) => "not turned".to_owned(),
        (_, 0, 0) => format!("yaw {yaw} degrees, towards {faces}"),
        _ => format!("yaw {yaw}, pitch {pitch}, roll {roll} degrees"),
    }
}

fn fluid(fluid: Option<FluidRef<'_>>) -> String {
    match fluid {
        None => "none".to_owned(),
        Some(fluid) => format!("{}, level {}", fluid.name(), fluid.level()),
    }
}

fn support(support: u8) -> String {
    match support {
        0 => "none".to_owned(),
        BlockPhysics::DECORATION => "it never falls".to_owned(),
        distance => format!("{} from what holds it up", text::count(distance, "block")),
    }
}

fn light(light: LightValue, stored: Stored) -> String {
    let (red, green, blue, sky) = (light.red(), light.green(), light.blue(), light.sky());
    let stale = if stored.is_current { "" } else { "; out of date" };
    match (stored.is_stored, stored.is_current) {
        (true, _) => format!("red {red}, green {green}, blue {blue}, sky {sky}{stale}"),
        (false, true) => "none".to_owned(),
        (false, false) => "not computed yet".to_owned(),
    }
}

/// A tint as `#rrggbb`, with alpha before it unless it is what the game writes.
pub(super) fn tint(tint: i32) -> String {
    match tint.to_be_bytes() {
        [0xFF, rgb @ ..] => format!("#{}", text::hex(&rgb)),
        argb => format!("#{}", text::hex(&argb)),
    }
}
