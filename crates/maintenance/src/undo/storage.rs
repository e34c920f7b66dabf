//! [`BundleStorage`]: the old chunks in a bundle as a storage.

use std::collections::BTreeMap;

use hyworld_coords::{ChunkPos, RegionPos, RegionSlot};
use hyworld_providers::{ChunkSize, ChunkStorage, Error, Positions, Result};

use super::bundle::Bundle;
use super::changes::OldState;
use super::entries::Part;
use super::region::parse_blob;

/// The old versions of the chunks that a verb replaced, for reading. A damaged bundle lists the
/// chunks of its intact records, and an error for each damage.
#[derive(Debug)]
pub struct BundleStorage {
    bundle: Bundle,
    chunks: BTreeMap<ChunkPos, Old>,
}

/// Where a bundle has the old version of a chunk.
#[derive(Clone, Copy, Debug)]
enum Old {
    Blob(Part),
    Document(Part),
}

impl BundleStorage {
    /// Lists the chunks of a bundle.
    pub fn new(bundle: Bundle) -> Self {
        let mut chunks = BTreeMap::new();
        for file in &bundle.files {
            let name = file.name.rsplit('/').next().unwrap_or_default();
            let Some(region) = RegionPos::from_file_name(name) else { continue };
            for (blob, part) in file.blobs.iter().filter(|(blob, _)| blob.old == OldState::Stored) {
                let slot = u16::try_from(blob.slot).ok().and_then(RegionSlot::from_index);
                if let Some(at) = slot.and_then(|slot| region.chunk(slot)) {
                    chunks.insert(at, Old::Blob(*part));
                }
            }
        }
        for (chunk, part) in bundle.chunks.iter().filter(|(chunk, _)| chunk.old == OldState::Stored)
        {
            chunks.insert(ChunkPos::new(chunk.x, chunk.z), Old::Document(*part));
        }
        Self { bundle, chunks }
    }

    fn failed(&self, source: impl std::error::Error + Send + Sync + 'static) -> Error {
        Error::Engine { location: self.location(), action: "read", source: Box::new(source) }
    }

    fn refuse<T>(&self) -> Result<T> {
        let reason = "undo bundles are read-only".to_owned();
        Err(Error::ReadOnly { location: self.location(), reason })
    }
}

impl ChunkStorage for BundleStorage {
    fn location(&self) -> String {
        self.bundle.path().display().to_string()
    }

    fn read(&self, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        let Some(old) = self.chunks.get(&at) else { return Ok(None) };
        let (Old::Blob(part) | Old::Document(part)) = old;
        let bytes = self.bundle.read(*part).map_err(|error| self.failed(error))?;
        if let Old::Document(_) = old {
            return Ok(Some(bytes));
        }
        let blob = parse_blob(&bytes).map_err(|error| self.failed(error))?;
        Ok(Some(blob.decompress().map_err(|error| self.failed(error))?))
    }

    fn write(&self, _at: ChunkPos, _document: &[u8]) -> Result<()> {
        self.refuse()
    }

    fn remove(&self, _at: ChunkPos) -> Result<bool> {
        self.refuse()
    }

    fn positions(&self) -> Positions<'_> {
        // Chunks of damaged records are not known.
        let location = self.location();
        let unknown = self.bundle.findings().kept().to_vec().into_iter().map(move |finding| {
            let (location, source) = (location.clone(), Box::from(finding.message));
            Err(Error::Engine { location, action: "list", source })
        });
        Box::new(self.chunks.keys().copied().map(Ok).chain(unknown))
    }

    fn size(&self, at: ChunkPos) -> Result<Option<ChunkSize>> {
        let document = self.read(at)?;
        Ok(document.map(|document| ChunkSize { raw: document.len() as u64, stored: None }))
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}
