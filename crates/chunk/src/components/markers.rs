//! Components without fields that the game requires.

use crate::component::Component;
use crate::error::Result;
use crate::fields::Fields;
use hyworld_documents::RawDocument;

/// Marks a holder as a chunk. It has no fields; the position of a chunk is not stored in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WorldChunk;

/// Marks a holder as a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChunkSection;

impl Component for WorldChunk {
    const ID: &'static str = "WorldChunk";

    fn decode(_document: RawDocument<'_>, _version: i32) -> Result<Self> {
        Ok(Self)
    }

    fn encode(&self, _fields: &mut Fields<'_>) {}
}

impl Component for ChunkSection {
    const ID: &'static str = "ChunkSection";

    fn decode(_document: RawDocument<'_>, _version: i32) -> Result<Self> {
        Ok(Self)
    }

    fn encode(&self, _fields: &mut Fields<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Holder;
    use hyworld_documents::DocumentWriter;

    #[test]
    fn unknown_fields_of_markers_are_kept() {
        let mut writer = DocumentWriter::new();
        writer.int32("Later", 1);
        let document = writer.finish();
        let mut holder = Holder::new();
        holder.set_raw("WorldChunk", &document).unwrap();
        let marker = *holder.get::<WorldChunk>().unwrap().unwrap();
        holder.put(&marker).unwrap();
        assert_eq!(holder.raw("WorldChunk").unwrap().as_bytes(), document);
        assert_eq!(holder.get::<ChunkSection>().unwrap(), None);
    }
}
