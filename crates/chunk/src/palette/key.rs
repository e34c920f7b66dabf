//! The values a palette lists: asset names, and the small packed values of a section.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::wire::{Reader, put_utf};
use hyworld_documents::Malformed;

/// The longest name that the game can save, in UTF-16 units. The format allows 65,534 bytes, and
/// the game's encoder reserves three for each unit.
pub(crate) const NAME_CHARS_MAX: usize = 21_844;

/// Returns the length of a name in UTF-16 units if the game cannot save it.
pub(crate) fn chars_too_many(name: &str) -> Option<usize> {
    // A name has at most as many UTF-16 units as bytes.
    let is_long = name.len() > NAME_CHARS_MAX;
    is_long.then(|| name.encode_utf16().count()).filter(|chars| *chars > NAME_CHARS_MAX)
}

/// A value that a palette can list: [`AssetKey`], [`Filler`](crate::Filler) or
/// [`Rotation`](crate::Rotation).
pub trait PaletteKey: Clone + Eq + Hash + fmt::Debug + sealed::Sealed + 'static {
    /// Returns the initial value of every cell: `Empty`, or zero.
    fn default_key() -> &'static Self;
}

pub(crate) mod sealed {
    /// Prevents other crates from adding key types, which the format could not store.
    pub trait Sealed {}
}

/// The stored form of a key.
pub(crate) trait Wire: PaletteKey {
    /// The minimum size of a key in bytes.
    const BYTES_MIN: usize;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed>;

    fn write(&self, out: &mut Vec<u8>);
}

/// The name of a block or fluid, such as `Rock_Stone`. Cheap to clone.
///
/// Names are case-sensitive, as they are in the stored chunk.
///
/// ```
/// use hyworld_chunk::AssetKey;
///
/// let key = AssetKey::try_from("Rock_Stone")?;
/// assert_eq!(key, "Rock_Stone");
/// assert!(key.as_str().starts_with("Rock_"));
/// assert!(AssetKey::try_from("Empty")?.is_air());
/// # Ok::<(), hyworld_chunk::NameTooLong>(())
/// ```
#[derive(Clone)]
pub struct AssetKey(Name);

/// Most palettes contain air, so its name needs neither an allocation nor a reference count.
#[derive(Clone)]
enum Name {
    Known(&'static str),
    Shared(Arc<str>),
}

impl AssetKey {
    /// Air in a palette of blocks, and no fluid in a palette of fluids.
    pub const EMPTY: Self = Self(Name::Known(Self::EMPTY_NAME));

    /// The name of [`EMPTY`](Self::EMPTY).
    pub const EMPTY_NAME: &'static str = "Empty";

    /// Creates a key. Any spelling of air, such as `empty`, becomes `Empty`. Returns `None` if the
    /// name is longer than the 21,844 UTF-16 units that the game can save.
    pub fn new(name: &str) -> Option<Self> {
        chars_too_many(name).is_none().then(|| Self::stored(name).in_usual_spelling())
    }

    /// Returns an error if this is a stored name that is too long for the game to save again.
    pub(crate) fn check_can_be_saved(&self) -> Result<(), NameTooLong> {
        chars_too_many(self.as_str()).map_or(Ok(()), |chars| Err(NameTooLong { chars }))
    }

    /// Creates a key from a stored name, whose length already fits the format.
    pub(crate) fn stored(name: &str) -> Self {
        if name == Self::EMPTY_NAME { Self::EMPTY } else { Self(Name::Shared(name.into())) }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Name::Known(name) => name,
            Name::Shared(name) => name,
        }
    }

    /// Returns the name of the block without its state: `Chest` for
    /// `*Chest_State_Definitions_Open`.
    pub fn block_name(&self) -> &str {
        let name = self.as_str();
        let Some(state) = name.strip_prefix('*') else { return name };
        let state = state.trim_start_matches('*');
        state.split_once("_State_Definitions_").map_or(state, |(block, _)| block)
    }

    /// Returns whether both are states of one block.
    pub(crate) fn is_state_of_same_block(&self, other: &Self) -> bool {
        self.block_name() == other.block_name()
    }

    /// Returns whether this is [`EMPTY`](Self::EMPTY). The game ignores the case of names, so a
    /// stored `empty` is air too.
    pub fn is_air(&self) -> bool {
        self.as_str().eq_ignore_ascii_case(Self::EMPTY_NAME)
    }

    /// Returns the usual key for air in another spelling.
    fn in_usual_spelling(self) -> Self {
        if self.is_air() { Self::EMPTY } else { self }
    }

    /// Returns the spelling of the name if it is air but not `Empty`.
    pub(crate) fn odd_air(&self) -> Option<[u8; 5]> {
        let is_odd = self.is_air() && self.as_str() != Self::EMPTY_NAME;
        self.as_str().as_bytes().try_into().ok().filter(|_| is_odd)
    }
}

impl PaletteKey for AssetKey {
    fn default_key() -> &'static Self {
        static EMPTY: AssetKey = AssetKey::EMPTY;
        &EMPTY
    }
}

impl sealed::Sealed for AssetKey {}

impl Wire for AssetKey {
    const BYTES_MIN: usize = 2;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.utf().map(Self::stored)
    }

    fn write(&self, out: &mut Vec<u8>) {
        put_utf(out, self.as_str());
    }
}

impl Default for AssetKey {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl AsRef<str> for AssetKey {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl TryFrom<&str> for AssetKey {
    type Error = NameTooLong;

    fn try_from(name: &str) -> Result<Self, NameTooLong> {
        let key = Self::stored(name).in_usual_spelling();
        key.check_can_be_saved().map(|()| key)
    }
}

/// The error for a name that is longer than the 21,844 UTF-16 units that the game can save.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a name of {chars} characters is too long: the game cannot save names of more than \
         {NAME_CHARS_MAX} characters"
)]
pub struct NameTooLong {
    /// The length of the name in UTF-16 units.
    pub chars: usize,
}

impl PartialEq for AssetKey {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for AssetKey {}

impl PartialEq<str> for AssetKey {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for AssetKey {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialOrd for AssetKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for AssetKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for AssetKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Display for AssetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for AssetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_case_sensitive() {
        let stone = AssetKey::new("Rock_Stone").unwrap();
        assert_eq!(stone, stone.clone());
        assert_ne!(stone, AssetKey::new("rock_stone").unwrap());
        assert_eq!(HashSet::from([stone.clone()]).get(&stone), Some(&stone));
        assert!(AssetKey::EMPTY < stone);
        assert_eq!(
            (format!("{stone:?}"), stone.to_string()),
            ("\"Rock_Stone\"".into(), "Rock_Stone".into())
        );
    }

    #[test]
    fn every_key_named_empty_is_air() {
        let read = AssetKey::read(&mut Reader::new(b"\0\x05Empty")).unwrap();
        assert!(matches!(read.0, Name::Known(_)));
        let shared = AssetKey(Name::Shared("Empty".into()));
        assert_eq!(HashSet::from([AssetKey::EMPTY]).get(&shared), Some(&AssetKey::EMPTY));
        assert!(shared.is_air() && AssetKey::stored("empty").is_air());
        assert_ne!(AssetKey::stored("empty"), AssetKey::EMPTY);
        assert_eq!(AssetKey::new("eMPTY"), Some(AssetKey::EMPTY));
    }

    #[test]
    fn long_names_can_be_read_but_not_created() {
        let (longest, longer) = ("x".repeat(NAME_CHARS_MAX), "x".repeat(NAME_CHARS_MAX + 1));
        let mut out = Vec::new();
        AssetKey::new(&longest).unwrap().write(&mut out);
        assert_eq!(AssetKey::read(&mut Reader::new(&out)).unwrap(), longest.as_str());
        assert_eq!(AssetKey::new(&longer), None);
        let refused = AssetKey::try_from(longer.as_str()).unwrap_err();
        assert_eq!(refused, NameTooLong { chars: 21_845 });
        let mut out = Vec::new();
        put_utf(&mut out, &longer);
        let read = AssetKey::read(&mut Reader::new(&out)).unwrap();
        assert_eq!((read == longer.as_str(), read.check_can_be_saved()), (true, Err(refused)));
        // Two UTF-16 units each, as Java counts.
        let emoji = "\u{1F600}";
        assert!(AssetKey::new(&emoji.repeat(10_922)).is_some());
        assert!(AssetKey::new(&emoji.repeat(10_923)).is_none());
    }
}
