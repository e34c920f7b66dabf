//! [`resources_at`]: the resources of everything at a path.

use std::path::Path;

use hyworld_world::{OsFileSystem, PathKind, Resources, WorldOptions, discover};

use crate::error::Result;
use crate::location::not_found;

/// The resources of a universe or of a world.
#[derive(Debug)]
pub struct NamedResources {
    /// The world; `None` for those of the universe.
    pub world: Option<String>,
    /// The resources.
    pub resources: Resources<'static>,
}

/// Finds the resources of a save, universe or world: first those of the universe, then those of
/// each world.
///
/// # Errors
/// There is nothing at the path, or nothing of the game.
pub fn resources_at(path: &Path) -> Result<Vec<NamedResources>> {
    if !path.exists() {
        return Err(not_found(path, "no such file or folder"));
    }
    let place = discover(path)?;
    let mut found = Vec::new();
    if let PathKind::Save { universe } | PathKind::Universe { universe } = &place {
        found.push(NamedResources { world: None, resources: universe.resources() });
    }
    for world in place.worlds()? {
        let opened = WorldOptions::new().without_chunks().open(&world.path);
        // Without a configuration they are where the game keeps them.
        let resources = opened.map_or_else(
            |_| Resources::in_folder(&OsFileSystem, world.path.join("resources")),
            |opened| opened.resources().clone(),
        );
        found.push(NamedResources { world: Some(world.name), resources });
    }
    Ok(found)
}
