//! Shared code of the fuzz targets for chunks.
//!
//! An input starts with [`Choices`]: a fixed number of bytes that select the operations, such as
//! the version to decode and the cells to change. The rest is the bytes to decode,
//! [packed](packed), so that the fuzzer spends its time on structure instead of cells.

pub mod bundle;
pub mod choices;
pub mod columns;
pub mod document;
pub mod edits;
pub mod light;
pub mod packed;
pub mod palette;
pub mod parts;
pub mod zip;

pub use choices::Choices;

/// Splits an input into its choices and the bytes to decode. Returns `None` if it is too short.
pub fn split(input: &[u8]) -> Option<(Choices, Vec<u8>)> {
    let (choices, packed) = input.split_first_chunk()?;
    Some((Choices::new(*choices), packed::expand(packed)))
}

/// Builds an input from its first choices and the bytes to decode.
pub fn join(choices: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut input = choices.to_vec();
    input.resize(choices::BYTES, 0);
    input.extend(packed::compact(bytes));
    input
}
