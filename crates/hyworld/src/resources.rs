//! [`resources_at`]: the resources of a universe and its worlds.

use std::path::Path;

use hyworld_world::{OsFileSystem, PathKind, Resources, WorldOptions, discover};

use crate::error::Result;
use crate::location::not_found;

/// The resources of a universe or of a world.
#[derive(Debug)]
pub struct NamedResources {
    /// The name of the world; `None` for the universe.
    pub world: Option<String>,
    /// The resources.
    pub resources: Resources<'static>,
}

/// Returns the resources of a save, universe or world: first those of the universe, then those of
/// each world.
///
/// # Errors
/// Returns an error if the path does not exist or has no data of the game.
pub fn resources_at(path: &Path) -> Result<Vec<NamedResources>> {
    if !path.exists() {
        return Err(not_found(path, "no such file or folder"));
    }
    let kind = discover(path)?;
    let mut found = Vec::new();
    if let PathKind::Save { universe } | PathKind::Universe { universe } = &kind {
        found.push(NamedResources { world: None, resources: universe.resources() });
    }
    for world in kind.worlds()? {
        let opened = WorldOptions::new().without_chunks().open(&world.path);
        // Without a usable configuration, use the game's default folder.
        let resources = opened.map_or_else(
            |_| Resources::in_folder(&OsFileSystem, world.path.join("resources")),
            |opened| opened.resources().clone(),
        );
        found.push(NamedResources { world: Some(world.name), resources });
    }
    Ok(found)
}
