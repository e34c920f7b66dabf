//! Limits on the number of components, holders and sections, each with its reason.
//!
//! A decoded part uses more memory than its stored bytes. Without a limit, a small document could
//! cause a large allocation.

use hyworld_documents::{Element, Malformed, Problem};

/// Components of one holder, or fields beside them. The game registers a few hundred types.
pub(crate) const COMPONENTS_MAX: usize = 4096;

/// Block entities or entities of one chunk. A chunk has 327,680 blocks.
pub(crate) const HOLDERS_MAX: usize = 1 << 19;

/// Sections of one chunk. The game has 10 and ignores more.
pub(crate) const SECTIONS_MAX: usize = 4096;

/// Yields the elements of a document, then an error if there are more than `most`.
pub(crate) fn at_most<'a>(
    elements: impl Iterator<Item = Result<Element<'a>, Malformed>>,
    most: usize,
) -> impl Iterator<Item = Result<Element<'a>, Malformed>> {
    elements.enumerate().map(move |(number, element)| match element {
        Ok(element) if number >= most => {
            Err(Malformed { at: element.value_at(), problem: Problem::TooMany { most } })
        }
        element => element,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockComponentChunk, Chunk, Component, EntityChunk, Error, Holder};
    use hyworld_documents::{DocumentWriter, Kind, RawDocument};

    fn many(count: usize, value: &[u8]) -> Vec<u8> {
        let mut writer = DocumentWriter::new();
        for _ in 0..count {
            writer.document("", value);
        }
        writer.finish()
    }

    fn inside(key: &str, kind: Kind, value: &[u8]) -> Vec<u8> {
        let mut writer = DocumentWriter::new();
        writer.raw(key, kind, value);
        writer.finish()
    }

    fn is_too_many(error: &Error, limit: usize) -> bool {
        let Error::Malformed { source, .. } = error else { return false };
        source.problem == Problem::TooMany { most: limit }
    }

    #[test]
    fn components_have_a_limit() {
        let empty = many(0, &[]);
        let holder = |count| inside("Components", Kind::DOCUMENT, &many(count, &empty));
        assert_eq!(Holder::decode(holder(COMPONENTS_MAX)).unwrap().ids().len(), COMPONENTS_MAX);
        let refused = Holder::decode(holder(COMPONENTS_MAX + 1)).unwrap_err();
        assert!(is_too_many(&refused, COMPONENTS_MAX), "{refused}");
    }

    #[test]
    fn other_fields_have_a_limit() {
        let refused = Holder::decode(many(COMPONENTS_MAX + 1, &many(0, &[]))).unwrap_err();
        assert!(is_too_many(&refused, COMPONENTS_MAX), "{refused}");
    }

    #[test]
    fn sections_have_a_limit() {
        let section = inside("Components", Kind::DOCUMENT, &many(0, &[]));
        let sections = inside("Sections", Kind::ARRAY, &many(SECTIONS_MAX + 1, &section));
        let components = inside("ChunkColumn", Kind::DOCUMENT, &sections);
        let chunk = inside("Components", Kind::DOCUMENT, &components);
        let refused = Chunk::decode(chunk).unwrap_err();
        assert!(is_too_many(&refused, SECTIONS_MAX), "{refused}");
    }

    #[test]
    fn entities_and_block_entities_have_a_limit() {
        let holder = inside("Components", Kind::DOCUMENT, &many(0, &[]));
        let holders = many(HOLDERS_MAX + 1, &holder);
        let entities = inside("Entities", Kind::ARRAY, &holders);
        let refused = EntityChunk::decode(RawDocument::new(&entities).unwrap(), 0).unwrap_err();
        assert!(is_too_many(&refused, HOLDERS_MAX), "{refused}");
        let blocks = inside("BlockComponents", Kind::DOCUMENT, &holders);
        let blocks = RawDocument::new(&blocks).unwrap();
        let refused = BlockComponentChunk::decode(blocks, 0).unwrap_err();
        assert!(is_too_many(&refused, HOLDERS_MAX), "{refused}");
    }
}
