//! The JSON of `block`, all but the block entity.

use hyworld_chunk::{Filler, LightValue, Rotation};
use hyworld_coords::BlockPos;
use serde::Serialize;

use super::Stored;
use crate::output::json::Position;

#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    #[serde(flatten)]
    pub(super) at: Cell,
    pub(super) block: &'a str,
    pub(super) rotation: RotationObject,
    pub(super) filler: FillerObject,
    pub(super) base: Option<Cell>,
    pub(super) ticking: bool,
    pub(super) fluid: &'a str,
    pub(super) fluid_level: u8,
    pub(super) support: u8,
    pub(super) local_light: LightObject,
    pub(super) global_light: LightObject,
    pub(super) environment: &'a str,
    pub(super) height: i16,
    pub(super) tint: &'a str,
    pub(super) chunk: Position,
    pub(super) section: u8,
    pub(super) cell: u16,
    pub(super) file: String,
    pub(super) region: Position,
    pub(super) slot: u16,
}

#[derive(Debug, Serialize)]
pub(super) struct Cell {
    x: i32,
    y: i32,
    z: i32,
}

impl From<BlockPos> for Cell {
    fn from(BlockPos { x, y, z }: BlockPos) -> Self {
        Self { x, y, z }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct RotationObject {
    index: u8,
    yaw: Option<u16>,
    pitch: Option<u16>,
    roll: Option<u16>,
}

impl From<Rotation> for RotationObject {
    fn from(rotation: Rotation) -> Self {
        let degrees = |turns: u8| rotation.is_valid().then_some(u16::from(turns) * 90);
        Self {
            index: rotation.index(),
            yaw: degrees(rotation.yaw()),
            pitch: degrees(rotation.pitch()),
            roll: degrees(rotation.roll()),
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct FillerObject {
    bits: u16,
    x: i8,
    y: i8,
    z: i8,
}

impl From<Filler> for FillerObject {
    fn from(filler: Filler) -> Self {
        Self { bits: filler.bits(), x: filler.x(), y: filler.y(), z: filler.z() }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct LightObject {
    red: u8,
    green: u8,
    blue: u8,
    sky: u8,
    stored: bool,
    current: bool,
}

impl LightObject {
    pub(super) fn new(light: LightValue, stored: Stored) -> Self {
        Self {
            red: light.red(),
            green: light.green(),
            blue: light.blue(),
            sky: light.sky(),
            stored: stored.is_stored,
            current: stored.is_current,
        }
    }
}
