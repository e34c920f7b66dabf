//! [`ConvertTarget`]: where chunks are copied to, unfinished until all of them are there.

use std::path::Path;

use hyworld_maintenance::{ConvertOptions, ConvertReport, NoProgress, PartialFolder, convert};
use hyworld_providers::{ChunkStorage, RegionFilesOptions};
use hyworld_world::{ServerCheck, WritePermit};

use crate::error::{Error, ErrorKind, Result};
use crate::location::Location;
use crate::world_at::World;

/// A storage that chunks are copied to. It gets its name, or says that it is finished, only with
/// [`finish`](Self::finish): a world that was copied half-way never looks whole.
#[derive(Debug)]
pub struct ConvertTarget {
    storage: Box<dyn ChunkStorage>,
    ending: Ending,
    _permit: Option<WritePermit>,
}

#[derive(Debug)]
enum Ending {
    Folder(PartialFolder),
    #[cfg(feature = "s3")]
    S3(std::sync::Arc<hyworld_providers::S3Storage>),
}

impl ConvertTarget {
    /// Begins a copy of `source` at a location, or continues one that was interrupted. Region
    /// files and objects are compressed with this level where they are compressed anew.
    ///
    /// # Errors
    /// There are chunks already, another program uses the location, or chunks cannot be written
    /// there.
    pub fn begin(location: &Location, source: &str, level: i32) -> Result<Self> {
        if let Location::S3(url) = location {
            return Self::begin_s3(url, source, level);
        }
        let Some(folder) = location.folder() else {
            let text = format!("{}: chunks cannot be written there", location.name());
            return Err(Error::new(ErrorKind::BadLocation, text));
        };
        // Only chunks are written, so the configuration of the world need not be understood.
        let permit = WritePermit::of_storage(folder, ServerCheck::Refuse)?;
        let partial = PartialFolder::begin(folder, source)?;
        let options = RegionFilesOptions::new().compression_level(level);
        let storage = location.moved_to(partial.path()).open_for_writing(&options)?;
        Ok(Self { storage, ending: Ending::Folder(partial), _permit: Some(permit) })
    }

    #[cfg(feature = "s3")]
    fn begin_s3(url: &str, source: &str, level: i32) -> Result<Self> {
        let options = hyworld_providers::S3Options::new(url)?.building(source);
        let storage = std::sync::Arc::new(options.compression_level(level).open()?);
        let ending = Ending::S3(std::sync::Arc::clone(&storage));
        Ok(Self { storage: Box::new(storage), ending, _permit: None })
    }

    #[cfg(not(feature = "s3"))]
    fn begin_s3(_: &str, _: &str, _: i32) -> Result<Self> {
        Err(crate::location::s3_not_built())
    }

    /// The storage to copy to.
    pub fn storage(&self) -> &dyn ChunkStorage {
        &*self.storage
    }

    /// The folder that has the chunks until they are all there.
    pub fn unfinished_folder(&self) -> Option<&Path> {
        match &self.ending {
            Ending::Folder(partial) => Some(partial.path()),
            #[cfg(feature = "s3")]
            Ending::S3(_) => None,
        }
    }

    /// Whether it continues a copy that was interrupted.
    pub fn is_resumed(&self) -> bool {
        match &self.ending {
            Ending::Folder(partial) => partial.is_resumed(),
            #[cfg(feature = "s3")]
            Ending::S3(_) => false,
        }
    }

    /// Gives the target its name. What was copied must be synced.
    ///
    /// # Errors
    /// The operating system or the server refused; the same copy can be continued.
    pub fn finish(self) -> Result<()> {
        let Self { storage, ending, _permit } = self;
        match ending {
            Ending::Folder(partial) => {
                drop(storage);
                Ok(partial.finish()?)
            }
            #[cfg(feature = "s3")]
            Ending::S3(storage) => Ok(storage.finish_building()?),
        }
    }
}

impl World {
    /// Copies every chunk to another location, reads all of them back, and gives the target its
    /// name if nothing failed. The world itself is only read.
    ///
    /// # Errors
    /// The copy could not be begun or finished, or a chunk could not be copied: then the target
    /// is kept under another name, and the same call continues it.
    pub fn convert_to(&self, target: impl AsRef<Path>) -> Result<ConvertReport> {
        let location = Location::target(target.as_ref())?;
        let level = hyworld_indexed_storage::DEFAULT_LEVEL;
        let target = ConvertTarget::begin(&location, &self.storage().place(), level)?;
        let report = convert(self.storage(), target.storage(), &ConvertOptions::new(), &NoProgress);
        match report.failures.first() {
            None if report.is_complete() => target.finish().map(|()| report),
            first => {
                let why = first.map_or_else(String::new, |first| format!(": {}", first.message));
                let (name, failed) = (location.name(), report.failed);
                let text = format!("{name}: {failed} chunks could not be copied{why}");
                Err(Error::new(ErrorKind::Damaged, text))
            }
        }
    }
}
