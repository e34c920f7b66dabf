//! Builds a chunk from parts, so that the fuzzer can reach the fields without getting the lengths
//! of a hundred nested documents right.
//!
//! A part is stored as its index, its version, its length as a little-endian u32, and its bytes. A
//! length that is too great means all remaining bytes.

use hyworld_chunk::bson::DocumentWriter;
use hyworld_chunk::{Chunk, Holder};
use hyworld_coords::SectionY;

/// Components of sections that have a binary field.
pub const IN_SECTION: [&str; 3] = ["Block", "Fluid", "BlockPhysics"];

/// Components of chunks that have a binary field.
pub const IN_CHUNK: [&str; 3] = ["BlockChunk", "EnvironmentChunk", "BlockHealthChunk"];

/// Components of chunks without a binary field: their whole document is a part.
pub const DOCUMENTS: [&str; 4] =
    ["EntityChunk", "BlockComponentChunk", "ChunkSpawnedNPCData", "ChunkColumn"];

/// The binary field, or the document, of one component.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// The component. The components of the ten sections come first, then [`IN_CHUNK`], then
    /// [`DOCUMENTS`]; greater numbers wrap around.
    pub index: u8,
    /// The version of the component. With 0 the field is missing.
    pub version: i8,
    pub bytes: Vec<u8>,
}

const SECTION_PARTS: usize = 10 * IN_SECTION.len();
const FIELD_PARTS: usize = SECTION_PARTS + IN_CHUNK.len();
const ALL_PARTS: usize = FIELD_PARTS + DOCUMENTS.len();

/// Parses parts. Any bytes are valid.
pub fn read(mut bytes: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    while let Some((&[index, version, l0, l1, l2, l3], rest)) = bytes.split_first_chunk() {
        let len = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        let (part, rest) = rest.split_at(len.min(rest.len()));
        parts.push(Part { index, version: version.cast_signed(), bytes: part.to_vec() });
        bytes = rest;
    }
    parts
}

/// Encodes parts.
pub fn write(parts: &[Part]) -> Vec<u8> {
    let mut out = Vec::new();
    for Part { index, version, bytes } in parts {
        out.extend([*index, version.cast_unsigned()]);
        out.extend(u32::try_from(bytes.len()).expect("far below 4 GiB").to_le_bytes());
        out.extend(bytes);
    }
    out
}

/// Builds the document of a chunk of air with these parts.
pub fn build(parts: &[Part]) -> Vec<u8> {
    let mut chunk = Chunk::new();
    for part in parts {
        match usize::from(part.index) % ALL_PARTS {
            index @ ..SECTION_PARTS => {
                let number = u8::try_from(index / IN_SECTION.len()).expect("below ten");
                let y = SectionY::new(number).expect("below ten");
                let section = chunk.section_mut(y);
                let id = IN_SECTION[index % IN_SECTION.len()];
                section.set_raw(id, &component(part)).expect("a document");
            }
            index @ SECTION_PARTS..FIELD_PARTS => {
                let id = IN_CHUNK[index - SECTION_PARTS];
                chunk.set_raw(id, &component(part)).expect("a document");
            }
            index => {
                // Bytes that are not a document are ignored.
                let _ = chunk.set_raw(DOCUMENTS[index - FIELD_PARTS], &part.bytes);
            }
        }
    }
    chunk.encode()
}

fn component(part: &Part) -> Vec<u8> {
    let mut writer = DocumentWriter::new();
    if part.version != 0 {
        writer.int32("Version", part.version.into());
    }
    writer.binary("Data", 0, &part.bytes);
    writer.finish()
}

/// Returns the parts of a chunk, for seeds.
pub fn of(chunk: &Chunk) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut push = |index: usize, found: Option<(i8, Vec<u8>)>| {
        let index = u8::try_from(index).expect("below 256");
        parts.extend(found.map(|(version, bytes)| Part { index, version, bytes }));
    };
    for (number, section) in chunk.section_holders().iter().enumerate() {
        for (kind, id) in IN_SECTION.iter().enumerate() {
            push(number * IN_SECTION.len() + kind, field(section, id));
        }
    }
    for (kind, id) in IN_CHUNK.iter().enumerate() {
        push(SECTION_PARTS + kind, field(chunk.holder(), id));
    }
    for (kind, id) in DOCUMENTS.iter().enumerate().filter(|(_, id)| **id != "ChunkColumn") {
        let document = chunk.holder().raw(id).map(|document| (0, document.as_bytes().to_vec()));
        push(FIELD_PARTS + kind, document);
    }
    parts
}

/// Returns the version and the binary field of a component.
pub fn field(holder: &Holder, id: &str) -> Option<(i8, Vec<u8>)> {
    let document = holder.raw(id)?;
    let version = document.get("Version").ok()?.and_then(|version| version.as_i32()).unwrap_or(0);
    let (_, bytes) = document.get("Data").ok()??.as_binary()?;
    Some((i8::try_from(version).ok()?, bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_round_trip() {
        let document = Chunk::new().encode();
        let parts = of(&Chunk::decode(document.clone()).unwrap());
        assert_eq!(parts.len(), 25);
        assert_eq!(read(&write(&parts)), parts);
        assert!(build(&parts) == document);
        assert!(build(&[]) == document);
    }
}
