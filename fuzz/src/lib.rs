//! What the fuzz targets for chunks share.
//!
//! An input of theirs begins with [`Choices`]: a fixed number of bytes that say what is done, such
//! as which version is decoded and which cells are changed. The rest is the bytes to decode,
//! [packed](packed), so that the fuzzer spends its time on what has structure and not on the
//! sixteen thousand bytes of cells.

pub mod choices;
pub mod columns;
pub mod document;
pub mod edits;
pub mod light;
pub mod packed;
pub mod palette;
pub mod parts;

pub use choices::Choices;

/// What an input does, and the bytes that it does it with; `None` if it is too short for that.
pub fn split(input: &[u8]) -> Option<(Choices, Vec<u8>)> {
    let (choices, packed) = input.split_first_chunk()?;
    Some((Choices::new(*choices), packed::expand(packed)))
}

/// The input for a target that makes these choices first and decodes these bytes.
pub fn join(choices: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut input = choices.to_vec();
    input.resize(choices::BYTES, 0);
    input.extend(packed::compact(bytes));
    input
}
