//! Components that newer games write. Their ids are known from public patch notes and descriptions,
//! their bytes are not. Such components are kept as they are.

use std::collections::BTreeMap;

use crate::block_chunk::BlockChunk;
use crate::block_section::BlockSection;
use crate::chunk::Chunk;
use crate::component::{self, Component};
use crate::error::{Error, Result};
use crate::holder::Holder;

/// The first game version that writes components this crate cannot decode.
const GAME: &str = "game 0.7 or newer";

/// Ids of chunk and section components introduced in game 0.7.
const OPAQUE: [&str; 3] = [ENVIRONMENT_SECTION, HEALTH_SECTION, HEIGHTMAP_COLUMN];
pub(crate) const ENVIRONMENT_SECTION: &str = "EnvironmentSection";
const HEALTH_SECTION: &str = "BlockHealthSection";
pub(crate) const HEIGHTMAP_COLUMN: &str = "HeightmapColumn";

/// Returns the name of the oldest game that writes this unknown version of a component.
pub(crate) fn game_of(id: &str, version: i32) -> &'static str {
    let is_known_game = match id {
        BlockSection::ID => version > <BlockSection as Component>::VERSION,
        BlockChunk::ID => version > <BlockChunk as Component>::VERSION,
        ENVIRONMENT_SECTION | HEALTH_SECTION | HEIGHTMAP_COLUMN => true,
        _ => false,
    };
    if is_known_game { GAME } else { "a newer game" }
}

fn known_id(id: &str) -> Option<&'static str> {
    Holder::known_id(id).or_else(|| OPAQUE.into_iter().find(|known| *known == id))
}

impl Error {
    /// Returns the id and version of the component of [`Self::Newer`]; `None` for other errors.
    pub fn newer_component(&self) -> Option<(&str, i32)> {
        let Self::Newer { path, found, .. } = self else { return None };
        let id = path.rsplit('.').find(|part| *part != component::DATA_KEY);
        Some((id.unwrap_or_default(), *found))
    }

    /// Returns one of the errors about components of a newer game, preferring one about blocks. A
    /// chunk has ten sections, which usually all have the same error.
    pub fn one_newer<'a>(errors: impl IntoIterator<Item = &'a Self>) -> Option<&'a Self> {
        let rank = |error: &&Self| {
            let id = error.newer_component().map(|(id, _)| id);
            [BlockSection::ID, BlockChunk::ID].iter().position(|known| Some(*known) == id)
        };
        let newer = errors.into_iter().filter(|error| error.newer_component().is_some());
        newer.min_by_key(|error| rank(error).unwrap_or(usize::MAX))
    }
}

impl Chunk {
    /// Returns the newest version of each of the game's components in the chunk and its sections,
    /// without decoding them; 0 if a component has no version. Plugin components are left out.
    pub fn component_versions(&self) -> BTreeMap<&'static str, i32> {
        let mut newest = BTreeMap::new();
        for holder in std::iter::once(self.holder()).chain(self.section_holders()) {
            for id in holder.ids().filter_map(known_id) {
                let document = holder.raw(id);
                let version = document.and_then(|document| component::version(document).ok());
                let sum = newest.entry(id).or_default();
                *sum = version.unwrap_or_default().max(*sum);
            }
        }
        newest
    }

    /// Returns an error for each unknown component of a newer game in the chunk or its sections.
    pub fn opaque_components(&self) -> Vec<Error> {
        OPAQUE.into_iter().filter_map(|id| self.refuse_opaque(id).err()).collect()
    }

    /// Returns an error if the chunk or a section has a component with this id, which a newer game
    /// wrote in a format that is not known.
    pub(crate) fn refuse_opaque(&self, id: &str) -> Result<()> {
        let mut holders = std::iter::once(self.holder()).chain(self.section_holders());
        if holders.any(|holder| holder.contains(id)) {
            return Err(Error::Newer { path: id.to_owned(), found: 0, known: -1 });
        }
        Ok(())
    }

    /// Returns whether game 0.7 or newer wrote the chunk, judging by its components.
    pub fn is_from_newer_game(&self) -> bool {
        let is_newer = |holder: &Holder| {
            holder.ids().any(|id| OPAQUE.contains(&id))
                || holder.stored_version::<BlockSection>() > Some(BlockSection::VERSION)
        };
        self.section_holders().iter().any(is_newer)
            || is_newer(self.holder())
            || self.holder().stored_version::<BlockChunk>() > Some(BlockChunk::VERSION)
    }
}
