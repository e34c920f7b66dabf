//! [`UsedNames`]: the blocks, fluids and environments that occur in a world.

use std::collections::BTreeMap;

use hyworld_chunk::Chunk;
use hyworld_coords::ChunkPos;
use hyworld_maintenance::{Progress, ScanOptions, Scanned, scan};
use hyworld_providers::ChunkStorage;

use crate::error::{Error, Result};

/// The blocks, fluids and environments that occur in a world, by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UsedNames {
    /// The number of cells of each block, without air.
    pub blocks: BTreeMap<String, u64>,
    /// The number of cells of each fluid.
    pub fluids: BTreeMap<String, u64>,
    /// The number of chunks with each environment.
    pub environments: BTreeMap<String, u64>,
    /// The number of chunks that were read.
    pub chunks: u64,
}

impl UsedNames {
    fn of(chunk: &Chunk) -> Result<Self> {
        let mut names = Self { chunks: 1, ..Self::default() };
        for (name, cells) in chunk.histogram()? {
            add(&mut names.blocks, &name, cells);
        }
        for section in chunk.sections() {
            for (fluid, cells) in section.fluids()?.fluids().stored_counts() {
                add(&mut names.fluids, fluid.as_str(), cells.into());
            }
        }
        for name in chunk.environments()?.names_used() {
            add(&mut names.environments, name, 1);
        }
        names.blocks.remove("Empty");
        names.fluids.remove("Empty");
        Ok(names)
    }

    fn merge(&mut self, other: &Self) {
        let maps = [
            (&mut self.blocks, &other.blocks),
            (&mut self.fluids, &other.fluids),
            (&mut self.environments, &other.environments),
        ];
        for (sums, counts) in maps {
            for (name, count) in counts {
                add(sums, name, *count);
            }
        }
        self.chunks = self.chunks.saturating_add(other.chunks);
    }
}

fn add(sums: &mut BTreeMap<String, u64>, name: &str, count: u64) {
    match sums.get_mut(name) {
        Some(sum) => *sum = sum.saturating_add(count),
        None => drop(sums.insert(name.to_owned(), count)),
    }
}

/// Returns the blocks, fluids and environments of all chunks, and the errors of chunks that cannot
/// be read.
pub fn used_names(
    storage: &dyn ChunkStorage,
    options: &ScanOptions,
    progress: &dyn Progress,
) -> (UsedNames, Vec<Error>) {
    let (mut names, mut errors) = (UsedNames::default(), Vec::new());
    let about = |at: ChunkPos| format!("{}: chunk {},{}", storage.location(), at.x, at.z);
    let read = |at, document: hyworld_providers::Result<Option<Vec<u8>>>| -> Result<UsedNames> {
        let Some(document) = document?.filter(|document| !document.is_empty()) else {
            return Ok(UsedNames::default());
        };
        let chunk = Chunk::decode(document).map_err(Error::from);
        chunk.and_then(|chunk| UsedNames::of(&chunk)).map_err(|error| error.about(about(at)))
    };
    // The scan is cancelled only by the caller.
    let _completion = scan(storage, options, read, |step| match step {
        Scanned::Chunk(_, result) => {
            progress.advance(1);
            match result {
                Ok(found) => names.merge(&found),
                Err(error) => errors.push(error),
            }
        }
        Scanned::Unlisted(error) => errors.push(error.into()),
    });
    (names, errors)
}
