//! [`EntityMut`]: setters for the common fields of an entity.

use super::entity::{ANGLES, Entity, XYZ};
use crate::component;
use crate::error::{Error, Result};
use crate::holder::Holder;
use hyworld_documents::{Document, Malformed, Problem, Value};

/// The newest known versions of components; 0 for all others.
const KNOWN_VERSIONS: [(&str, i32); 2] = [("NPC", 5), ("EntityStats", 5)];

/// Setters for the common fields of an entity. All other fields keep their value and order. A
/// component of a newer version is rejected.
#[derive(Debug)]
pub struct EntityMut<'a>(pub &'a mut Holder);

impl EntityMut<'_> {
    /// Sets its position in the world: x, y, z in blocks. If the entity moves to another chunk, the
    /// caller must also remove it from the list of the old one.
    ///
    /// # Errors
    /// Returns an error if the component is malformed or a newer game wrote it.
    pub fn set_position(&mut self, position: [f64; 3]) -> Result<()> {
        self.set_numbers("Transform", &["Position"], XYZ, position)
    }

    /// Sets its rotation: pitch, yaw, roll in radians.
    ///
    /// # Errors
    /// Same as [`set_position`](Self::set_position).
    pub fn set_rotation(&mut self, rotation: [f64; 3]) -> Result<()> {
        self.set_numbers("Transform", &["Rotation"], ANGLES, rotation)
    }

    /// Sets the rotation of its head: pitch, yaw, roll in radians.
    ///
    /// # Errors
    /// Same as [`set_position`](Self::set_position).
    pub fn set_head_rotation(&mut self, rotation: [f64; 3]) -> Result<()> {
        self.set_numbers("HeadRotation", &["Rotation"], ANGLES, rotation)
    }

    /// Sets its velocity along x, y and z.
    ///
    /// # Errors
    /// Same as [`set_position`](Self::set_position).
    pub fn set_velocity(&mut self, velocity: [f64; 3]) -> Result<()> {
        self.set_numbers("Velocity", &["Velocity"], XYZ, velocity)
    }

    /// Sets its display name.
    ///
    /// # Errors
    /// Same as [`set_position`](Self::set_position).
    pub fn set_display_name(&mut self, name: &str) -> Result<()> {
        self.set("DisplayName", &["DisplayName", "RawText"], Value::String(name.to_owned()))
    }

    /// Sets the text above its head.
    ///
    /// # Errors
    /// Same as [`set_position`](Self::set_position).
    pub fn set_nameplate(&mut self, text: &str) -> Result<()> {
        self.set("Nameplate", &["Text"], Value::String(text.to_owned()))
    }

    /// Sets the scale at which an item or block entity is shown.
    ///
    /// # Errors
    /// Same as [`set_position`](Self::set_position).
    pub fn set_scale(&mut self, scale: f64) -> Result<()> {
        self.set("EntityScale", &["Scale"], Value::Double(scale))
    }

    /// Sets the scale of its model. Returns `false` if it has no model.
    ///
    /// # Errors
    /// Same as [`set_position`](Self::set_position).
    pub fn set_model_scale(&mut self, scale: f64) -> Result<bool> {
        self.set_in_existing("Model", &["Model", "Scale"], Value::Double(scale))
    }

    /// Sets the role of a creature. Returns `false` if the entity is not a creature.
    ///
    /// # Errors
    /// Same as [`set_position`](Self::set_position).
    pub fn set_role_name(&mut self, role: &str) -> Result<bool> {
        self.set_in_existing("NPC", &["RoleName"], Value::String(role.to_owned()))
    }

    /// Sets the position a creature returns to. Returns `false` if the entity is not a creature.
    ///
    /// # Errors
    /// Same as [`set_position`](Self::set_position).
    pub fn set_leash_position(&mut self, position: [f64; 3]) -> Result<bool> {
        if !self.0.contains("NPC") {
            return Ok(false);
        }
        self.set_numbers("NPC", &["LeashPos"], XYZ, position).map(|()| true)
    }

    /// Sets a stat without checking its limits. Returns `false` if there is no such stat.
    ///
    /// # Errors
    /// Same as [`set_position`](Self::set_position).
    pub fn set_stat(&mut self, id: &str, value: f64) -> Result<bool> {
        if Entity(self.0).stat(id).is_none() {
            return Ok(false);
        }
        self.set("EntityStats", &["Stats", id, "Value"], Value::Double(value)).map(|()| true)
    }

    /// Sets the interaction id of a kind of interaction, such as `Use`.
    ///
    /// # Errors
    /// Same as [`set_position`](Self::set_position).
    pub fn set_interaction(&mut self, kind: &str, id: &str) -> Result<()> {
        self.set("Interactions", &["Interactions", kind], Value::String(id.to_owned()))
    }

    fn set_numbers(
        &mut self,
        component: &str,
        path: &[&str],
        keys: [&str; 3],
        numbers: [f64; 3],
    ) -> Result<()> {
        self.change(component, path, |document| {
            for (key, number) in keys.into_iter().zip(numbers) {
                document.set(key, Value::Double(number));
            }
        })
    }

    fn set_in_existing(&mut self, component: &str, path: &[&str], value: Value) -> Result<bool> {
        if !self.0.contains(component) {
            return Ok(false);
        }
        self.set(component, path, value).map(|()| true)
    }

    fn set(&mut self, component: &str, path: &[&str], value: Value) -> Result<()> {
        let Some((last, parents)) = path.split_last() else { return Ok(()) };
        self.change(component, parents, |document| document.set(last, value))
    }

    fn change(
        &mut self,
        id: &str,
        path: &[&str],
        change: impl FnOnce(&mut Document),
    ) -> Result<()> {
        let inside = |error: Error| error.inside(id);
        let mut document = Document::new();
        if let Some(raw) = self.0.raw(id) {
            let known = KNOWN_VERSIONS.into_iter().find(|(known, _)| *known == id);
            let known = known.map_or(0, |(_, version)| version);
            let found = component::version(raw).map_err(inside)?;
            if found > known {
                return Err(inside(Error::Newer { path: String::new(), found, known }));
            }
            document = Document::from_raw(raw).map_err(|error| inside(error.into()))?;
        }
        change_nested(&mut document, path, change).map_err(inside)?;
        self.0.set_raw(id, &document.to_bytes())
    }
}

/// Changes the document at a path. Missing documents on the path are added.
fn change_nested(
    document: &mut Document,
    path: &[&str],
    change: impl FnOnce(&mut Document),
) -> Result<()> {
    let Some((first, rest)) = path.split_first() else {
        change(document);
        return Ok(());
    };
    let mut inner = match document.get(first) {
        Some(Value::Document(inner)) => inner.clone(),
        None => Document::new(),
        Some(_) => {
            let what = format!("a document in {first} (found another type)");
            return Err(Malformed { at: 0, problem: Problem::Missing { what } }.into());
        }
    };
    change_nested(&mut inner, rest, change)?;
    document.set(first, Value::Document(inner));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(json: &str) -> Holder {
        Holder::decode(Document::from_json(json).unwrap().to_bytes()).unwrap()
    }

    /// A skeleton from a chunk of January 2026, with unknown fields added.
    const SKELETON: &str = r#"{"Components":{
        "Later":{"x":1},
        "DisplayName":{"DisplayName":{"RawText":"Bob","Bold":null,"Own":1},"More":[1]},
        "Nameplate":{"Text":"Skeleton"},
        "Velocity":{"Velocity":{"X":0.0,"Y":0.21,"Z":0.0},"Own":2},
        "HeadRotation":{"Rotation":{"Pitch":0.1,"Yaw":3.5,"Roll":0.0}},
        "Transform":{"Position":{"X":1.5,"Y":2.5,"Z":3.5},
            "Rotation":{"Pitch":0.0,"Yaw":1.0,"Roll":0.0}},
        "EntityScale":{"Scale":0.5},
        "Model":{"Model":{"Id":"Skeleton","Scale":1.0,"Static":false,"Own":3}},
        "EntityStats":{"Version":5,"Stats":{
            "Oxygen":{"Id":"Oxygen","Value":100.0},
            "Health":{"Id":"Health","Value":129.0,"Modifiers":{"Armor":{"Amount":46.0}}}}},
        "Interactions":{"Interactions":{"Use":"*UseNPC"}},
        "EffectController":{},
        "NPC":{"Version":5,"HvrHght":0.25,"MdlScl":1.5,"SpawnInstant":"0001-01-05T08:00:12Z",
            "LeashPos":{"X":-236.5,"Y":32.0,"Z":1045.5},"LeashHdg":-18.0,"LeashPtch":0.5,
            "RoleName":"Skeleton_Fighter"}
    }}"#;

    #[test]
    fn all_fields_are_read() {
        let holder = holder(SKELETON);
        let entity = Entity(&holder);
        assert_eq!((entity.display_name(), entity.nameplate()), (Some("Bob"), Some("Skeleton")));
        assert_eq!(entity.velocity(), Some([0.0, 0.21, 0.0]));
        assert_eq!(entity.head_rotation(), Some([0.1, 3.5, 0.0]));
        assert_eq!((entity.scale(), entity.model_scale()), (Some(0.5), Some(1.0)));
        let stats: Vec<_> = entity.stats().collect();
        assert_eq!(stats, [("Oxygen", 100.0), ("Health", 129.0)]);
        assert_eq!(entity.interactions().collect::<Vec<_>>(), [("Use", "*UseNPC")]);
        assert!(entity.effects().is_some_and(|effects| effects.elements().next().is_none()));
        let npc = entity.npc().unwrap();
        assert_eq!(npc.spawn_instant(), Some("0001-01-05T08:00:12Z"));
        assert_eq!(npc.leash_position(), Some([-236.5, 32.0, 1045.5]));
        assert_eq!((npc.leash_heading(), npc.leash_pitch()), (Some(-18.0), Some(0.5)));
        assert_eq!((npc.model_scale(), npc.hover_height()), (Some(1.5), Some(0.25)));
        let nothing = Holder::new();
        let entity = Entity(&nothing);
        assert_eq!((entity.display_name(), entity.velocity(), entity.npc()), (None, None, None));
        assert_eq!(entity.stats().count() + entity.interactions().count(), 0);
    }

    #[test]
    fn setters_change_one_value_and_keep_everything_else() {
        let mut holder = holder(SKELETON);
        let mut entity = EntityMut(&mut holder);
        entity.set_display_name("Eve").unwrap();
        entity.set_nameplate("Eve!").unwrap();
        entity.set_velocity([1.0, 0.21, 0.0]).unwrap();
        entity.set_head_rotation([0.1, 4.0, 0.0]).unwrap();
        entity.set_position([1.5, 65.0, 3.5]).unwrap();
        entity.set_rotation([0.0, 2.0, 0.0]).unwrap();
        entity.set_scale(2.0).unwrap();
        assert!(entity.set_model_scale(3.0).unwrap());
        assert!(entity.set_stat("Health", 50.0).unwrap());
        assert!(!entity.set_stat("Luck", 50.0).unwrap());
        entity.set_interaction("Use", "*Talk").unwrap();
        assert!(entity.set_role_name("Skeleton_Archer").unwrap());
        assert!(entity.set_leash_position([-236.5, 33.0, 1045.5]).unwrap());
        let mut expected = SKELETON.to_owned();
        for (from, to) in [
            ("\"Bob\"", "\"Eve\""),
            ("\"Text\":\"Skeleton\"", "\"Text\":\"Eve!\""),
            ("\"X\":0.0,\"Y\":0.21", "\"X\":1.0,\"Y\":0.21"),
            ("\"Yaw\":3.5", "\"Yaw\":4.0"),
            ("\"Y\":2.5", "\"Y\":65.0"),
            ("\"Yaw\":1.0", "\"Yaw\":2.0"),
            ("\"Scale\":0.5", "\"Scale\":2.0"),
            ("\"Scale\":1.0", "\"Scale\":3.0"),
            ("129.0", "50.0"),
            ("*UseNPC", "*Talk"),
            ("Skeleton_Fighter", "Skeleton_Archer"),
            ("32.0", "33.0"),
        ] {
            assert_eq!(expected.matches(from).count(), 1, "{from}");
            expected = expected.replace(from, to);
        }
        assert_eq!(holder.encode(), Document::from_json(&expected).unwrap().to_bytes());
    }

    #[test]
    fn missing_fields_are_added_where_possible() {
        let mut holder = Holder::new();
        let mut entity = EntityMut(&mut holder);
        entity.set_display_name("Eve").unwrap();
        entity.set_velocity([1.0, 2.0, 3.0]).unwrap();
        assert!(!entity.set_role_name("Sheep").unwrap() && !entity.set_model_scale(2.0).unwrap());
        assert!(!entity.set_leash_position([0.0; 3]).unwrap());
        assert_eq!(holder.ids().collect::<Vec<_>>(), ["DisplayName", "Velocity"]);
        assert_eq!(Entity(&holder).velocity(), Some([1.0, 2.0, 3.0]));
    }

    #[test]
    fn newer_or_malformed_components_are_not_changed() {
        let json = r#"{"Components":{"NPC":{"Version":6,"RoleName":"Sheep"},
            "DisplayName":{"DisplayName":"plain"}}}"#;
        let mut holder = holder(json);
        let before = holder.encode();
        let refused = EntityMut(&mut holder).set_role_name("Cow").unwrap_err().to_string();
        assert_eq!(refused, "written by a newer game: NPC version 6 is not supported yet");
        let refused = EntityMut(&mut holder).set_display_name("Eve").unwrap_err().to_string();
        assert!(refused.starts_with("DisplayName: "), "{refused}");
        assert_eq!(holder.encode(), before);
    }
}
