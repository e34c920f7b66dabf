//! What the tests of hyworld share. Not published.

mod content;
mod fixtures;
pub mod seaweedfs;
mod v0_writer;

pub use content::{Random, sample};
pub use fixtures::{
    Expected, Fixture, WORLDS, fixture, manifest, region_files, sha256, shared, write_file,
};
pub use v0_writer::V0Writer;
