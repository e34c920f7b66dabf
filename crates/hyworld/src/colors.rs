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
    /// Whether names were left out, because there were more than 64 MiB of them.
    pub is_truncated: bool,
    /// The bytes of all names.
    name_bytes: usize,
}

/// The maximum size of all names in bytes. Real worlds have a few hundred kilobytes.
const NAME_BYTES_MAX: usize = 64 << 20;

/// The maximum number of errors that are kept. The others are similar.
const ERRORS_MAX: usize = 1_000;

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
                let is_known = sums.contains_key(name);
                let bytes = self.name_bytes.saturating_add(name.len());
                if is_known || bytes <= NAME_BYTES_MAX {
                    add(sums, name, *count);
                    self.name_bytes = if is_known { self.name_bytes } else { bytes };
                } else {
                    self.is_truncated = true;
                }
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
/// be read, at most 1,000.
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
                Err(error) if errors.len() < ERRORS_MAX => errors.push(error),
                Err(_) => {}
            }
        }
        Scanned::Unlisted(error) => errors.push(error.into()),
    });
    (names, errors)
}
