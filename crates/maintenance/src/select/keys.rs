//! The names of tests, their aliases, and names that are refused.

use super::condition::{Cost, Flag, Names, Number};

/// What a name tests.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Key {
    Names(Names),
    Number(Number),
    /// Tests names with the operators for lists, and a number with all other operators.
    Either(Names, Number),
    Flag(Flag),
    X,
    Z,
    Border,
    Circle,
    File,
    PlayerLocation,
    PlayerSpawn,
}

/// The tests, in lower case.
const KEYS: [(&str, Key); 32] = [
    ("x", Key::X),
    ("z", Key::Z),
    ("border", Key::Border),
    ("size", Key::Number(Number::Stored)),
    ("stored", Key::Number(Number::Stored)),
    ("raw", Key::Number(Number::Raw)),
    ("bytes", Key::Number(Number::Raw)),
    ("sealed", Key::Flag(Flag::Sealed)),
    ("damaged", Key::Flag(Flag::Damaged)),
    ("component", Key::Names(Names::Component)),
    ("version", Key::Number(Number::Version)),
    ("migration", Key::Number(Number::Migration)),
    ("entities", Key::Either(Names::Entity, Number::Entities)),
    ("block_entities", Key::Either(Names::BlockEntity, Number::BlockEntities)),
    ("block", Key::Names(Names::Block)),
    ("fluid", Key::Names(Names::Fluid)),
    ("environment", Key::Names(Names::Environment)),
    ("kinds", Key::Number(Number::Kinds)),
    ("changes", Key::Number(Number::Changes)),
    ("height", Key::Number(Number::Height)),
    ("entity", Key::Names(Names::Entity)),
    ("block_entity", Key::Names(Names::BlockEntity)),
    ("item", Key::Names(Names::Item)),
    ("container", Key::Names(Names::Container)),
    ("text", Key::Names(Names::Text)),
    ("sign", Key::Names(Names::Text)),
    ("placed_by", Key::Names(Names::PlacedBy)),
    ("touched", Key::Number(Number::Touched)),
    ("circle", Key::Circle),
    ("selection", Key::File),
    ("player", Key::PlayerLocation),
    ("respawn", Key::PlayerSpawn),
];

/// The names of MCA Selector for tests that exist here, in lower case.
const ALIASES: [(&str, &str); 9] = [
    ("palette", "block"),
    ("biome", "environment"),
    ("#entities", "entities"),
    ("#tileentities", "block_entities"),
    ("tileentities", "block_entities"),
    ("xpos", "x"),
    ("zpos", "z"),
    ("playerlocation", "player"),
    ("playerspawn", "respawn"),
];

/// Names of MCA Selector for values that Hytale does not store, in lower case, and what to use.
const REFUSED: [(&str, &str); 12] = [
    ("inhabitedtime", "chunks do not store how long players were near; use `touched` or `changes`"),
    ("lastupdate", "chunks do not store when they were saved; use `touched` or `changes`"),
    ("timestamp", "chunks do not store when they were saved; use `touched` or `changes`"),
    ("dataversion", "chunks have no version of the game; use `version` or `migration`"),
    ("status", "stored chunks are always complete; use `damaged` or `component`"),
    ("lightpopulated", "the game computes light when it loads a chunk; use `changes`"),
    ("structures", "chunks do not store their structures; use `block`, `container` or `entity`"),
    ("ypos", "every chunk has the heights 0 to 319; use `height`"),
    ("customscript", "scripts are not supported; use other tests"),
    ("script", "scripts are not supported; use other tests"),
    ("claim", "chunks do not store claims; use a list, such as @claims.csv"),
    ("players", "use `player`, or an area such as near:player=NAME:100"),
];

/// The names of areas.
pub(super) const AREAS: [&str; 7] =
    ["block", "chunk", "region", "square", "circle", "near", "border"];

/// The longest name that is compared with the known ones.
const NAME_CHARS_MAX: usize = 40;

/// Finds a test by its name.
///
/// # Errors
/// Returns a message that says what to use instead.
pub(super) fn find(name: &str) -> Result<Key, String> {
    let lower = name.to_ascii_lowercase();
    let alias = ALIASES.iter().find(|(alias, _)| *alias == lower);
    let wanted = alias.map_or(lower.as_str(), |(_, key)| key);
    if let Some((_, key)) = KEYS.iter().find(|(key, _)| *key == wanted) {
        return Ok(*key);
    }
    if let Some((_, reason)) = REFUSED.iter().find(|(refused, _)| *refused == lower) {
        return Err(format!("`{name}` is not available: {reason}"));
    }
    if lower == "chunk" || lower == "region" {
        return Err(format!("`{name}` needs a position, such as {name}:3,-2"));
    }
    let (nearest, distance) = nearest(&lower);
    if distance <= lower.len().div_ceil(3) {
        return Err(format!("unknown test `{name}`; did you mean `{nearest}`?"));
    }
    Err(format!("unknown test `{name}`; the tests are {}", names().join(", ")))
}

/// Returns the names of all tests for messages, without those that only MCA Selector uses.
fn names() -> Vec<&'static str> {
    let is_ours = |key: &Key| !matches!(key, Key::Circle | Key::File);
    KEYS.iter().filter(|(_, key)| is_ours(key)).map(|(name, _)| *name).collect()
}

fn nearest(name: &str) -> (&'static str, usize) {
    let short: String = name.chars().take(NAME_CHARS_MAX).collect();
    let all = KEYS.iter().map(|(key, _)| *key).chain(AREAS);
    let distances = all.map(|key| (key, distance(&short, key)));
    distances.min_by_key(|(_, distance)| *distance).unwrap_or(("block", usize::MAX))
}

/// Returns how many characters must be inserted, removed or replaced to change one text into the
/// other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (number, character) in (1..).zip(from.chars()) {
        let mut diagonal = number - 1;
        let mut left = number;
        let mut next = vec![number];
        for (above, wanted) in row.iter().skip(1).zip(&to) {
            let replaced = diagonal + usize::from(character != *wanted);
            left = replaced.min(left + 1).min(above + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

impl Names {
    pub(super) fn cost(self) -> Cost {
        match self {
            Self::Component => Cost::Document,
            Self::Block | Self::Fluid | Self::Environment => Cost::Palettes,
            _ => Cost::Decoded,
        }
    }
}

impl Number {
    pub(super) fn cost(self) -> Cost {
        match self {
            Self::Stored | Self::Raw => Cost::Index,
            Self::Entities | Self::BlockEntities | Self::Version => Cost::Document,
            Self::Migration | Self::Kinds | Self::Changes | Self::Height => Cost::Palettes,
            Self::Touched => Cost::Decoded,
        }
    }
}

impl Flag {
    pub(super) fn cost(self) -> Cost {
        match self {
            Self::Sealed => Cost::Index,
            Self::Damaged => Cost::Complete,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_mca_selector_are_found_or_refused() {
        assert_eq!(find("Palette"), find("block"));
        assert_eq!(find("#TileEntities"), find("block_entities"));
        assert_eq!(find("xPos"), Ok(Key::X));
        for (name, use_instead) in
            [("InhabitedTime", "`touched`"), ("DataVersion", "`version`"), ("Status", "`damaged`")]
        {
            let reason = find(name).unwrap_err();
            assert!(reason.starts_with(&format!("`{name}` is not available")), "{reason}");
            assert!(reason.contains(use_instead), "{reason}");
        }
    }

    #[test]
    fn unknown_keys_name_the_nearest_one() {
        assert_eq!(find("blok").unwrap_err(), "unknown test `blok`; did you mean `block`?");
        assert!(find("enviroment").unwrap_err().contains("`environment`"));
        assert!(find("chunk").unwrap_err().contains("chunk:3,-2"));
        let reason = find("gravitation").unwrap_err();
        assert!(reason.contains("the tests are x, z, border"), "{reason}");
        assert!(find(&"x".repeat(1_000_000)).is_err());
        assert_eq!((distance("kitten", "sitting"), distance("", "abc")), (3, 3));
    }
}
