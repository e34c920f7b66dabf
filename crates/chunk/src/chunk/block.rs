//! [`Block`]: what goes into a cell.

use crate::block_section::{Filler, Rotation};
use crate::palette::{AssetKey, NameTooLong};

/// A block to put into a cell: its name, which way it is turned, and which cell of a multi-block
/// object it is.
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
    /// Which way it is turned.
    pub rotation: Rotation,
    /// Which cell of a multi-block object it is.
    pub filler: Filler,
}

impl Block {
    /// Air.
    pub const AIR: Self = Self::new(AssetKey::EMPTY);

    /// A block of one cell that is not turned.
    pub const fn new(key: AssetKey) -> Self {
        Self { key, rotation: Rotation::NONE, filler: Filler::BASE }
    }

    /// The same block, turned this way.
    #[must_use]
    pub fn rotated(self, rotation: Rotation) -> Self {
        Self { rotation, ..self }
    }

    /// The same block as this cell of a multi-block object.
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
