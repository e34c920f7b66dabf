//! `EntityChunk`: the entities of a chunk.

use super::entity::Entity;
use crate::component::{self, Component, Stored};
use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::holder::Holder;
use crate::limits::{self, HOLDERS_MAX};
use hyworld_documents::RawDocument;

pub(super) const ENTITIES_KEY: &str = "Entities";

/// The entities of a chunk, in stored order.
///
/// Since game 0.6 sections store them. [`Chunk::entities`](crate::Chunk::entities) returns the
/// entities of the chunk and of its sections.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EntityChunk {
    /// The holders of the entities.
    pub entities: Vec<Holder>,
}

impl EntityChunk {
    /// Returns a view of each entity.
    pub fn iter(&self) -> impl Iterator<Item = Entity<'_>> {
        self.entities.iter().map(Entity)
    }
}

impl Component for EntityChunk {
    const ID: &'static str = "EntityChunk";

    fn decode(document: RawDocument<'_>, _version: i32) -> Result<Self> {
        component::decode_copy(document)
    }

    fn decode_shared(stored: &Stored<'_>) -> Result<Self> {
        let holders = nested_holders(stored, ENTITIES_KEY)?;
        Ok(Self { entities: holders.into_iter().map(|(_, entity)| entity).collect() })
    }

    fn encode(&self, fields: &mut Fields<'_>) {
        write_list(fields, ENTITIES_KEY, &self.entities);
    }
}

/// Writes holders as a list. An empty list is not added to a stored document without the field.
pub(super) fn write_list(fields: &mut Fields<'_>, key: &str, holders: &[Holder]) {
    if !holders.is_empty() || !fields.is_new_in_stored(key) {
        fields.list(key, holders, |writer, key, holder| holder.write_nested(key, writer));
    }
}

/// Returns the holders in a field of a component with their keys. They share its bytes.
pub(super) fn nested_holders<'a>(stored: &Stored<'a>, key: &str) -> Result<Vec<(&'a str, Holder)>> {
    let mut holders = Vec::new();
    let Some(list) = stored.document.get(key)? else { return Ok(holders) };
    let found = list.as_document().map(|list| limits::at_most(list.elements(), HOLDERS_MAX));
    for element in found.into_iter().flatten() {
        let element = element?;
        let inside = |error: Error| error.inside(&format!("{key}.{}", element.key()));
        let at = list.value_at().saturating_add(element.value_at());
        let holder = Holder::from_shared(stored.bytes.part(at, element.value().len()).to_shared());
        holders.push((element.key(), holder.map_err(inside)?));
    }
    Ok(holders)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared_bytes::SharedBytes;
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
    fn common_fields_are_read() {
        let holder = entity();
        let entity = Entity(&holder);
        assert_eq!(entity.position(), Some([-1.5, 64.0, 7.0]));
        assert_eq!(entity.uuid().map(|uuid| uuid[15]), Some(15));
        assert_eq!(entity.model(), Some("Kweebec"));
        assert_eq!(entity.role_name(), Some("Kweebec_Sapling"));
        assert_eq!(entity.rotation(), None);
        assert_eq!(Entity(&Holder::new()).uuid(), None);
    }

    fn decode(bytes: &[u8]) -> Result<EntityChunk> {
        component::decode(SharedBytes::new(bytes.to_vec()).borrowed())
    }

    #[test]
    fn round_trip_and_a_malformed_entity() {
        let chunk = EntityChunk { entities: vec![entity(), entity()] };
        let bytes = component::encode(&chunk, None).unwrap();
        let raw = RawDocument::new(&bytes).unwrap();
        let again: EntityChunk = decode(&bytes).unwrap();
        assert_eq!(again, chunk);
        assert_eq!(component::encode(&again, Some(raw)).unwrap(), bytes);
        let mut broken = Document::new();
        broken.set(ENTITIES_KEY, Value::Array(vec![Value::Int32(1)]));
        let bytes = broken.to_bytes();
        let error = decode(&bytes).unwrap_err();
        assert!(error.to_string().starts_with("Entities.0: "), "{error}");
    }
}
