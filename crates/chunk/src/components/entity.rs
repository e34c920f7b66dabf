//! [`Entity`]: getters for the common fields of an entity. `docs/format/chunk.md` describes the
//! fields and the values seen in real chunks.

use crate::holder::Holder;
use hyworld_documents::{Element, RawDocument};

/// Getters for the common fields of an entity. Any field may be missing. A malformed component or
/// a field of another type counts as missing.
///
/// ```
/// use hyworld_chunk::bson::Document;
/// use hyworld_chunk::{Entity, EntityMut, Holder};
///
/// let json = r#"{ "Components": {
///     "NPC": { "Version": 5, "RoleName": "Sheep", "LeashPos": { "X": 1.5, "Y": 64.0, "Z": 2.5 } },
///     "EntityStats": { "Version": 5, "Stats": { "Health": { "Id": "Health", "Value": 81.0 } } }
/// } }"#;
/// let mut sheep = Holder::decode(Document::from_json(json)?.to_bytes())?;
/// assert_eq!(Entity(&sheep).stat("Health"), Some(81.0));
/// assert_eq!(Entity(&sheep).npc().and_then(|npc| npc.leash_position()), Some([1.5, 64.0, 2.5]));
///
/// EntityMut(&mut sheep).set_display_name("Dolly")?;
/// assert_eq!(Entity(&sheep).display_name(), Some("Dolly"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Entity<'a>(pub &'a Holder);

/// The fields of a creature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Npc<'a>(RawDocument<'a>);

impl<'a> Entity<'a> {
    /// Returns its UUID, most significant byte first.
    pub fn uuid(self) -> Option<[u8; 16]> {
        let (_, bytes) = self.field("UUID", &["UUID"])?.as_binary()?;
        bytes.try_into().ok()
    }

    /// Returns its position in the world: x, y, z in blocks.
    pub fn position(self) -> Option<[f64; 3]> {
        numbers(self.0.raw("Transform")?, "Position", XYZ)
    }

    /// Returns its rotation: pitch, yaw, roll in radians, not normalised.
    pub fn rotation(self) -> Option<[f64; 3]> {
        numbers(self.0.raw("Transform")?, "Rotation", ANGLES)
    }

    /// Returns the rotation of its head: pitch, yaw, roll in radians, not normalised.
    pub fn head_rotation(self) -> Option<[f64; 3]> {
        numbers(self.0.raw("HeadRotation")?, "Rotation", ANGLES)
    }

    /// Returns its velocity along x, y and z.
    pub fn velocity(self) -> Option<[f64; 3]> {
        numbers(self.0.raw("Velocity")?, "Velocity", XYZ)
    }

    /// Returns its display name.
    pub fn display_name(self) -> Option<&'a str> {
        self.field("DisplayName", &["DisplayName", "RawText"])?.as_str()
    }

    /// Returns the text above its head.
    pub fn nameplate(self) -> Option<&'a str> {
        self.field("Nameplate", &["Text"])?.as_str()
    }

    /// Returns the id of its model.
    pub fn model(self) -> Option<&'a str> {
        self.field("Model", &["Model", "Id"])?.as_str()
    }

    /// Returns the scale of its model; 1 is the natural size.
    pub fn model_scale(self) -> Option<f64> {
        self.field("Model", &["Model", "Scale"])?.as_f64()
    }

    /// Returns the scale at which an item or block entity is shown.
    pub fn scale(self) -> Option<f64> {
        self.field("EntityScale", &["Scale"])?.as_f64()
    }

    /// Returns the fields of a creature, or `None` if the entity is not a creature.
    pub fn npc(self) -> Option<Npc<'a>> {
        self.0.raw("NPC").map(Npc)
    }

    /// Returns the fields of a spawn marker, or `None` if the entity is not one. A spawn marker is
    /// not a creature, but shows the name of what it spawns.
    pub fn spawn_marker(self) -> Option<RawDocument<'a>> {
        self.0.raw("SpawnMarkerComponent")
    }

    /// Returns the role of a creature.
    pub fn role_name(self) -> Option<&'a str> {
        self.npc()?.role_name()
    }

    /// Returns its stats, such as `Health`, with their values, in stored order.
    pub fn stats(self) -> impl Iterator<Item = (&'a str, f64)> {
        let stats = self.field("EntityStats", &["Stats"]).and_then(|stats| stats.as_document());
        elements(stats).filter_map(|stat| {
            let value = stat.as_document()?.get("Value").ok()??.as_f64()?;
            Some((stat.key(), value))
        })
    }

    /// Returns the value of one stat.
    pub fn stat(self, id: &str) -> Option<f64> {
        self.stats().find(|(found, _)| *found == id).map(|(_, value)| value)
    }

    /// Returns its interactions in stored order: the kind, such as `Use`, and the interaction id.
    pub fn interactions(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let found = self.field("Interactions", &["Interactions"]);
        let found = found.and_then(|found| found.as_document());
        elements(found).filter_map(|interaction| Some((interaction.key(), interaction.as_str()?)))
    }

    /// Returns the document of its effects, which is empty in every sample world.
    pub fn effects(self) -> Option<RawDocument<'a>> {
        self.0.raw("EffectController")
    }

    fn field(self, component: &str, path: &[&str]) -> Option<Element<'a>> {
        let (last, parents) = path.split_last()?;
        let mut document = self.0.raw(component)?;
        for parent in parents {
            document = document.get(parent).ok().flatten()?.as_document()?;
        }
        document.get(last).ok().flatten()
    }
}

impl<'a> Npc<'a> {
    /// Returns its role.
    pub fn role_name(self) -> Option<&'a str> {
        self.field("RoleName")?.as_str()
    }

    /// Returns the game time at which it spawned.
    pub fn spawn_instant(self) -> Option<&'a str> {
        self.field("SpawnInstant")?.as_str()
    }

    /// Returns the position it returns to.
    pub fn leash_position(self) -> Option<[f64; 3]> {
        numbers(self.0, "LeashPos", XYZ)
    }

    /// Returns its heading at the leash position, in radians.
    pub fn leash_heading(self) -> Option<f64> {
        self.field("LeashHdg")?.as_f64()
    }

    /// Returns its pitch at the leash position, in radians.
    pub fn leash_pitch(self) -> Option<f64> {
        self.field("LeashPtch")?.as_f64()
    }

    /// Returns the scale of its model.
    pub fn model_scale(self) -> Option<f64> {
        self.field("MdlScl")?.as_f64()
    }

    /// Returns its hover height above the ground.
    pub fn hover_height(self) -> Option<f64> {
        self.field("HvrHght")?.as_f64()
    }

    fn field(self, key: &str) -> Option<Element<'a>> {
        self.0.get(key).ok().flatten()
    }
}

pub(super) const XYZ: [&str; 3] = ["X", "Y", "Z"];
pub(super) const ANGLES: [&str; 3] = ["Pitch", "Yaw", "Roll"];

/// Returns three numbers of a nested document.
fn numbers(document: RawDocument<'_>, field: &str, keys: [&str; 3]) -> Option<[f64; 3]> {
    let nested = document.get(field).ok().flatten()?.as_document()?;
    let number = |key| nested.get(key).ok().flatten()?.as_f64();
    let [first, second, third] = keys;
    Some([number(first)?, number(second)?, number(third)?])
}

fn elements(document: Option<RawDocument<'_>>) -> impl Iterator<Item = Element<'_>> {
    document.into_iter().flat_map(RawDocument::elements).filter_map(Result::ok)
}
