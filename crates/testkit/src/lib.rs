//! Shared code of hyworld's tests. Not published.

pub mod damage;
mod fixtures;
mod newer_games;
mod random;
pub mod seaweedfs;
mod v0_writer;

pub use fixtures::{
    CONVERTED_WORLDS, Expected, Fixture, WORLDS, fixture, manifest, region_files, sha256, shared,
    write_file,
};
pub use newer_games::{SectionNames, game_0_6_chunk, game_0_7_chunk};
pub use random::{Random, sample};
pub use v0_writer::V0Writer;
