//! `EntityChunk`: the entities that stand in a chunk.

use crate::component::{Component, Fields};
use crate::error::{Error, Result};
use crate::holder::Holder;
use crate::limits::{self, HOLDERS_MAX};
use hyworld_documents::{DocumentWriter, Kind, RawDocument};

const ENTITIES_KEY: &str = "Entities";

/// The entities of a chunk, in stored order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EntityChunk {
    /// Their holders.
    pub entities: Vec<Holder>,
}

impl EntityChunk {
    /// What is commonly asked of each.
    pub fn iter(&self) -> impl Iterator<Item = Entity<'_>> {
        self.entities.iter().map(Entity)
    }
}

impl Component for EntityChunk {
    const ID: &'static str = "EntityChunk";

    fn decode(document: RawDocument<'_>, _version: i32) -> Result<Self> {
        let mut entities = Vec::new();
        let found = document.get(ENTITIES_KEY)?.and_then(|entities| entities.as_document());
        for element in found.into_iter().flat_map(|found| limits::at_most(found, HOLDERS_MAX)) {
            let element = element?;
            let inside = |error: Error| error.inside(&format!("{ENTITIES_KEY}.{}", element.key()));
            entities.push(Holder::decode(element.value().to_vec()).map_err(inside)?);
        }
        Ok(Self { entities })
    }

    fn encode(&self, fields: &mut Fields) {
        let mut entities = DocumentWriter::new();
        for (number, entity) in self.entities.iter().enumerate() {
            entities.document(&number.to_string(), &entity.encode());
        }
        fields.raw(ENTITIES_KEY, Kind::ARRAY, entities.finish());
    }
}

/// Questions to an entity. Everything may be missing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Entity<'a>(pub &'a Holder);

impl<'a> Entity<'a> {
    /// Its UUID, most significant byte first.
    pub fn uuid(self) -> Option<[u8; 16]> {
        let (_, bytes) = self.field("UUID", &["UUID"])?.as_binary()?;
        bytes.try_into().ok()
    }

    /// Where it stands in the world: x, y, z in blocks.
    pub fn position(self) -> Option<[f64; 3]> {
        let axis = |axis| self.field("Transform", &["Position", axis])?.as_f64();
        Some([axis("X")?, axis("Y")?, axis("Z")?])
    }

    /// Which way it faces: pitch, yaw, roll in radians, not normalised.
    pub fn rotation(self) -> Option<[f64; 3]> {
        let axis = |axis| self.field("Transform", &["Rotation", axis])?.as_f64();
        Some([axis("Pitch")?, axis("Yaw")?, axis("Roll")?])
    }

    /// The id of its model.
    pub fn model(self) -> Option<&'a str> {
        self.field("Model", &["Model", "Id"])?.as_str()
    }

    /// The role that a creature plays.
    pub fn role_name(self) -> Option<&'a str> {
        self.field("NPC", &["RoleName"])?.as_str()
    }

    fn field(self, component: &str, path: &[&str]) -> Option<hyworld_documents::Element<'a>> {
        let (last, parents) = path.split_last()?;
        let mut document = self.0.raw(component)?;
        for parent in parents {
            document = document.get(parent).ok().flatten()?.as_document()?;
        }
        document.get(last).ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_documents::{Document, Value};

    fn document(fields: &[(&str, Value)]) -> Document {
        let mut document = Document::new();
        for (key, value) in fields {
            document.set(key, value.clone());
        }
        document
    }

    fn entity() -> Holder {
        let position = document(&[
            ("X", Value::Double(-1.5)),
            ("Y", Value::Double(64.0)),
            ("Z", Value::Int32(7)),
        ]);
        let model = document(&[("Id", Value::String("Kweebec".to_owned()))]);
        let uuid = Value::Binary { subtype: 4, bytes: (0..16).collect() };
        let mut holder = Holder::new();
        let mut set = |id, field, value| {
            holder.set_raw(id, &document(&[(field, value)]).to_bytes()).unwrap();
        };
        set("Transform", "Position", Value::Document(position));
        set("UUID", "UUID", uuid);
        set("Model", "Model", Value::Document(model));
        set("NPC", "RoleName", Value::String("Kweebec_Sapling".to_owned()));
        Holder::decode(holder.encode()).unwrap()
    }

    #[test]
    fn common_questions() {
        let holder = entity();
        let entity = Entity(&holder);
        assert_eq!(entity.position(), Some([-1.5, 64.0, 7.0]));
        assert_eq!(entity.uuid().map(|uuid| uuid[15]), Some(15));
        assert_eq!(entity.model(), Some("Kweebec"));
        assert_eq!(entity.role_name(), Some("Kweebec_Sapling"));
        assert_eq!(entity.rotation(), None);
        assert_eq!(Entity(&Holder::new()).uuid(), None);
    }

    #[test]
    fn round_trip_and_an_entity_that_is_none() {
        let chunk = EntityChunk { entities: vec![entity(), entity()] };
        let bytes = crate::component::encode(&chunk, None).unwrap();
        let raw = RawDocument::new(&bytes).unwrap();
        let again: EntityChunk = crate::component::decode(raw).unwrap();
        assert_eq!(again, chunk);
        assert_eq!(crate::component::encode(&again, Some(raw)).unwrap(), bytes);
        let mut broken = Document::new();
        broken.set(ENTITIES_KEY, Value::Array(vec![Value::Int32(1)]));
        let bytes = broken.to_bytes();
        let raw = RawDocument::new(&bytes).unwrap();
        let error = crate::component::decode::<EntityChunk>(raw).unwrap_err();
        assert!(error.to_string().starts_with("Entities.0: "), "{error}");
    }
}
