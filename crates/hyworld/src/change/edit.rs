//! Editing the chunks of an area.

use hyworld_chunk::Chunk;
use hyworld_coords::{BlockBox, ChunkBox, ChunkPos};
use hyworld_indexed_storage::{DEFAULT_LEVEL, EncodedBlob};
use hyworld_maintenance::{Class, Finding, Findings, Progress, Scanned, scan_positions};
use serde::Serialize;

use super::Change;
use crate::chunks::Chunks;
use crate::error::Result;

/// The result of an edit.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct EditReport {
    /// Chunks that were read.
    pub chunks: u64,
    /// Chunks that were changed.
    pub changed: u64,
    /// The undo bundle; `None` until the change is committed, and if nothing was changed.
    pub bundle: Option<std::path::PathBuf>,
}

/// A changed chunk, ready to be written.
#[derive(Debug)]
enum Edited {
    Blob(ChunkPos, EncodedBlob),
    Document(ChunkPos, Vec<u8>),
    Unchanged,
}

impl Change {
    /// Calls `edit` with each stored chunk that `area` touches and the part of the area inside it,
    /// on all processors. Unchanged chunks are not written.
    ///
    /// # Errors
    /// Returns an error if a chunk cannot be read, changed or written. What was written before is
    /// undone by the bundle.
    pub fn edit(
        &mut self,
        area: BlockBox,
        edit: impl Fn(&mut Chunk, ChunkBox) -> Result<()> + Sync,
    ) -> Result<EditReport> {
        let edited = self.edit_chunks(area, edit);
        edited.map_err(|error| self.explain(error))
    }

    fn edit_chunks(
        &mut self,
        area: BlockBox,
        edit: impl Fn(&mut Chunk, ChunkBox) -> Result<()> + Sync,
    ) -> Result<EditReport> {
        self.refuse_pending()?;
        self.flush()?;
        let has_regions = self.location()?.region_folder().is_some();
        let storage = self.storage()?;
        let (mut report, mut failed) = (EditReport::default(), None);
        let map = |at: ChunkPos, mut chunk: Chunk| -> Result<Edited> {
            let Some(part) = area.in_chunk(at) else { return Ok(Edited::Unchanged) };
            edit(&mut chunk, part)?;
            if !chunk.is_changed() {
                return Ok(Edited::Unchanged);
            }
            Edited::new(at, chunk.encode(), has_regions)
        };
        let scanned = Chunks::new(&*storage).area(area).jobs(self.scan().job_count()).map_parallel(
            map,
            |edited| {
                report.chunks = report.chunks.saturating_add(1);
                if failed.is_none() {
                    let is_changed = u64::from(!matches!(edited, Edited::Unchanged));
                    report.changed = report.changed.saturating_add(is_changed);
                    failed = self.put_edited(edited).err();
                }
            },
        );
        failed.map_or(scanned, Err)?;
        self.flush()?;
        Ok(report)
    }

    /// Replaces the documents of chunks, on all processors. `map` returns the new document, or
    /// `None` to leave a chunk as it is. Chunks that cannot be read or changed are added to
    /// `findings`. Returns the number of changed chunks.
    pub(crate) fn rewrite(
        &mut self,
        positions: &[ChunkPos],
        map: impl Fn(Vec<u8>) -> Result<Option<Vec<u8>>> + Sync,
        findings: &mut Findings,
        progress: &dyn Progress,
    ) -> Result<u64> {
        let has_regions = self.location()?.region_folder().is_some();
        let (storage, scan) = (self.storage()?, self.scan().clone());
        let (mut written, mut failed) = (0_u64, None);
        let rewrite = |at, document: hyworld_providers::Result<Option<Vec<u8>>>| {
            let Some(document) = document? else { return Ok(Edited::Unchanged) };
            match map(document)? {
                Some(document) => Edited::new(at, document, has_regions),
                None => Ok(Edited::Unchanged),
            }
        };
        let listed = Box::new(positions.iter().copied().map(Ok));
        let _complete = scan_positions(&*storage, listed, &scan, rewrite, |step| {
            progress.advance(1);
            match step {
                Scanned::Chunk(_, Ok(edited)) if failed.is_none() => {
                    let is_changed = u64::from(!matches!(edited, Edited::Unchanged));
                    written = written.saturating_add(is_changed);
                    failed = self.put_edited(edited).err();
                }
                Scanned::Chunk(_, Ok(_)) => {}
                Scanned::Chunk(at, Err(error)) => {
                    findings.add(Finding::at(Class::Document, at, error));
                }
                Scanned::Unlisted(error) => findings.add(Finding::of_storage(&error)),
            }
        });
        failed.map_or(Ok(()), Err)?;
        self.flush()?;
        Ok(written)
    }

    fn put_edited(&mut self, edited: Edited) -> Result<()> {
        match edited {
            Edited::Unchanged => Ok(()),
            Edited::Blob(at, blob) => self.put_blob(at, &blob),
            Edited::Document(at, document) => self.put(at, &document),
        }
    }
}

impl Edited {
    fn new(at: ChunkPos, document: Vec<u8>, has_regions: bool) -> Result<Self> {
        Ok(if has_regions {
            Self::Blob(at, EncodedBlob::compress(&document, DEFAULT_LEVEL)?)
        } else {
            Self::Document(at, document)
        })
    }
}
