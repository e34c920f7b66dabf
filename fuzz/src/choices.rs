//! The part of an input that selects the operations.

use hyworld_chunk::{AssetKey, Filler, Palette, Rotation};
use hyworld_coords::{ChunkBlock, LocalBlock, LocalColumn};

/// The number of choice bytes in an input.
pub const BYTES: usize = 32;

/// A sequence of choices. When it is used up, all further choices are 0.
#[derive(Clone, Debug)]
pub struct Choices {
    bytes: [u8; BYTES],
    at: usize,
}

impl Choices {
    pub fn new(bytes: [u8; BYTES]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns whether all choices are used up.
    pub fn is_empty(&self) -> bool {
        self.at >= BYTES
    }

    pub fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    pub fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// Chooses a cell of a section.
    pub fn cell(&mut self) -> LocalBlock {
        LocalBlock::from_index(self.word() % 32_768).expect("below 32,768")
    }

    /// Chooses a block of a chunk.
    pub fn block(&mut self) -> ChunkBlock {
        let index = u32::from(self.word()) << 8 | u32::from(self.byte());
        ChunkBlock::from_index(index % 327_680).expect("below 327,680")
    }

    /// Chooses a column of a chunk.
    pub fn column(&mut self) -> LocalColumn {
        LocalColumn::from_index(self.word() % 1024).expect("below 1024")
    }

    /// Chooses a name: air, one that the palette lists, or a new one.
    pub fn key(&mut self, palette: &Palette<AssetKey>) -> AssetKey {
        let choice = self.byte();
        let listed = palette.entries().len().min(255);
        match usize::from(choice) {
            0 => AssetKey::EMPTY,
            number if number <= listed => palette.entries()[number - 1].key.clone(),
            _ => AssetKey::new(&format!("Fuzz_{choice}")).expect("short"),
        }
    }

    /// Chooses a valid rotation and a filler, each of them zero half of the time.
    pub fn turn(&mut self) -> (Rotation, Filler) {
        let choice = self.byte();
        let rotation = if choice & 1 == 0 { 0 } else { choice % 64 };
        let filler = if choice & 2 == 0 { 0 } else { u16::from(choice) << 7 };
        (Rotation::from_index(rotation), Filler::from_bits(filler))
    }
}
