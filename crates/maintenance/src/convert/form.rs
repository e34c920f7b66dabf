//! The two forms in which chunks are copied and compared: documents and compressed frames.

use hyworld_coords::ChunkPos;
use hyworld_files::invariant;
use hyworld_indexed_storage::EncodedBlob;
use hyworld_providers::{ChunkStorage, ChunkStorageExt, Result};
use sha2::{Digest as _, Sha256};

use crate::scan::{Form, Group, Reader};

/// The first 16 bytes of a SHA-256, enough to detect accidental changes in half the memory.
pub(super) type Digest = [u8; 16];

fn digest(bytes: &[u8]) -> Digest {
    let mut digest = Digest::default();
    digest.iter_mut().zip(Sha256::digest(bytes)).for_each(|(byte, hashed)| *byte = hashed);
    digest
}

/// The form in which chunks are copied.
pub(super) trait StoredForm: Sized {
    const FORM: Form;

    fn read(reader: &Reader<'_>, positions: &[ChunkPos], work: impl FnMut(Group<Self>));
    fn write(target: &dyn ChunkStorage, chunks: &[(ChunkPos, &Self)]) -> Vec<Result<()>>;
    fn digest(&self) -> Digest;
    fn raw_bytes(&self) -> u64;

    /// Returns the digests of chunks, without keeping the chunks in memory.
    fn digests(reader: &Reader<'_>, positions: &[ChunkPos]) -> Group<Digest> {
        let mut digests = Vec::with_capacity(positions.len());
        Self::read(reader, positions, |group| {
            let group = group.into_iter();
            digests.extend(group.map(|(at, read)| {
                let digest = read.map(|chunk| chunk.map(|chunk| chunk.digest()));
                (at, digest)
            }));
        });
        digests
    }
}

impl StoredForm for Vec<u8> {
    const FORM: Form = Form::Documents;

    fn read(reader: &Reader<'_>, positions: &[ChunkPos], work: impl FnMut(Group<Self>)) {
        // The weights of a batch can be those of another storage.
        reader.documents(positions, &[], work);
    }

    fn write(target: &dyn ChunkStorage, chunks: &[(ChunkPos, &Self)]) -> Vec<Result<()>> {
        let chunks: Vec<_> = chunks.iter().map(|(at, document)| (*at, &***document)).collect();
        target.write_many(&chunks)
    }

    fn digest(&self) -> Digest {
        digest(self)
    }

    fn raw_bytes(&self) -> u64 {
        self.len() as u64
    }
}

impl StoredForm for EncodedBlob {
    const FORM: Form = Form::Frames;

    fn read(reader: &Reader<'_>, positions: &[ChunkPos], work: impl FnMut(Group<Self>)) {
        reader.frames(positions, &[], work);
    }

    fn write(target: &dyn ChunkStorage, chunks: &[(ChunkPos, &Self)]) -> Vec<Result<()>> {
        match invariant!(target.frames(), "frames are copied only between storages of frames") {
            Ok(frames) => frames.write_frames(chunks),
            Err(bug) => chunks.iter().map(|_| Err(bug.clone().into())).collect(),
        }
    }

    fn digest(&self) -> Digest {
        digest(self.stored())
    }

    fn raw_bytes(&self) -> u64 {
        self.header().raw_bytes.into()
    }
}
