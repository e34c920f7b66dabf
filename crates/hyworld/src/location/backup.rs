//! Read-only access to the chunks of a world in a backup zip.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_providers::{
    Access, ChunkSize, ChunkStorage, Error as ProviderError, Positions, RegionFilter, RegionImage,
    Result as ProviderResult,
};
use hyworld_world::Backup;

use super::{Location, bad_location};
use crate::error::{Error, ErrorKind, Result};

/// Returns the location if the path is a zip file or a path inside one.
pub(super) fn find(path: &Path) -> Result<Option<Location>> {
    let is_zip = |path: &Path| path.is_file() && path.extension().is_some_and(|end| end == "zip");
    let Some(zip) = path.ancestors().find(|path| is_zip(path)) else { return Ok(None) };
    let inside = path.strip_prefix(zip).unwrap_or(Path::new(""));
    let inside = inside.strip_prefix("worlds").unwrap_or(inside).to_string_lossy().into_owned();
    let worlds = Backup::open(zip)?.worlds();
    let world = match worlds.as_slice() {
        _ if worlds.contains(&inside) => inside,
        _ if !inside.is_empty() => {
            let reason = format!("the backup has no world {inside:?}, only {}", worlds.join(", "));
            return Err(bad_location(zip, &reason));
        }
        [world] => world.clone(),
        [] => {
            let text = format!("{}: the backup has no worlds", zip.display());
            return Err(Error::new(ErrorKind::NotAWorld, text));
        }
        [first, ..] => {
            let (name, example) = (zip.display(), zip.join(first));
            let names = worlds.join(", ");
            let text = format!(
                "{name}: the backup has {} worlds: {names}; choose one by path, as in {}",
                worlds.len(),
                example.display()
            );
            return Err(Error::new(ErrorKind::SeveralWorlds, text));
        }
    };
    Ok(Some(Location::Backup { zip: zip.to_owned(), world }))
}

pub(super) fn open(zip: &Path, world: &str, access: Access) -> Result<Box<dyn ChunkStorage>> {
    if access == Access::ReadWrite {
        return Err(bad_location(zip, "backups are read-only"));
    }
    let state = Mutex::new(State { backup: Backup::open(zip)?, region: None });
    let (location, world) = (zip.join(world).display().to_string(), world.to_owned());
    Ok(Box::new(BackupStorage { location, world, state }))
}

/// The chunks of one world in a backup. At most one region is in memory.
#[derive(Debug)]
struct BackupStorage {
    location: String,
    world: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    backup: Backup,
    region: Option<(RegionPos, Option<RegionImage>)>,
}

impl BackupStorage {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_region<T>(
        &self,
        region: RegionPos,
        query: impl FnOnce(&RegionImage) -> ProviderResult<T>,
    ) -> ProviderResult<Option<T>> {
        let mut state = self.state();
        if state.region.as_ref().is_none_or(|(open, _)| *open != region) {
            let image = state.backup.region(&self.world, region).map_err(|error| match error {
                hyworld_world::Error::Provider(error) => error,
                other => ProviderError::Engine {
                    location: self.location.clone(),
                    action: "read",
                    source: other.into(),
                },
            })?;
            state.region = Some((region, image));
        }
        let image = state.region.as_ref().and_then(|(_, image)| image.as_ref());
        image.map(query).transpose()
    }

    fn refuse<T>(&self) -> ProviderResult<T> {
        let (location, reason) = (self.location.clone(), "backups are read-only".to_owned());
        Err(ProviderError::ReadOnly { location, reason })
    }
}

impl ChunkStorage for BackupStorage {
    fn location(&self) -> String {
        self.location.clone()
    }

    fn read(&self, at: ChunkPos) -> ProviderResult<Option<Vec<u8>>> {
        Ok(self.in_region(at.region(), |image| image.read(at))?.flatten())
    }

    fn write(&self, _at: ChunkPos, _document: &[u8]) -> ProviderResult<()> {
        self.refuse()
    }

    fn remove(&self, _at: ChunkPos) -> ProviderResult<bool> {
        self.refuse()
    }

    fn positions(&self) -> Positions<'_> {
        self.positions_in(&|_| true)
    }

    fn positions_in<'a>(&'a self, is_wanted: &'a RegionFilter<'a>) -> Positions<'a> {
        let regions = self.state().backup.regions(&self.world);
        let regions = regions.into_iter().filter(|region| is_wanted(*region));
        Box::new(regions.flat_map(|region| {
            match self.in_region(region, |image| Ok(image.positions())) {
                Ok(positions) => positions.unwrap_or_default().into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            }
        }))
    }

    fn size(&self, at: ChunkPos) -> ProviderResult<Option<ChunkSize>> {
        Ok(self.in_region(at.region(), |image| image.size(at))?.flatten())
    }

    fn sync(&self) -> ProviderResult<()> {
        Ok(())
    }
}
