//! [`Block`]: the name, rotation and filler of a cell.

use crate::block_section::{Filler, Rotation};
use crate::palette::{AssetKey, NameTooLong};

/// A block to set in a cell: its name, its rotation, and its offset within a multi-block object.
///
/// ```
/// use hyworld_chunk::{Block, Rotation};
///
/// let turned = Rotation::new(1, 0, 0).ok_or("no such rotation")?;
/// let stairs = Block::try_from("Wood_Stairs")?.rotated(turned);
/// assert_eq!(stairs.key, "Wood_Stairs");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The name; `Empty` is air.
    pub key: AssetKey,
    /// The rotation.
    pub rotation: Rotation,
    /// The offset from the base cell of a multi-block object.
    pub filler: Filler,
}

impl Block {
    /// Air.
    pub const AIR: Self = Self::new(AssetKey::EMPTY);

    /// Creates a block of one cell without rotation.
    pub const fn new(key: AssetKey) -> Self {
        Self { key, rotation: Rotation::NONE, filler: Filler::BASE }
    }

    /// Returns the same block with this rotation.
    #[must_use]
    pub fn rotated(self, rotation: Rotation) -> Self {
        Self { rotation, ..self }
    }

    /// Returns the same block with this offset within a multi-block object.
    #[must_use]
    pub fn with_filler(self, filler: Filler) -> Self {
        Self { filler, ..self }
    }
}

impl From<AssetKey> for Block {
    fn from(key: AssetKey) -> Self {
        Self::new(key)
    }
}

impl From<&AssetKey> for Block {
    fn from(key: &AssetKey) -> Self {
        Self::new(key.clone())
    }
}

impl TryFrom<&str> for Block {
    type Error = NameTooLong;

    fn try_from(name: &str) -> Result<Self, NameTooLong> {
        AssetKey::try_from(name).map(Self::new)
    }
}
