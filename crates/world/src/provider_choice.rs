//! [`ProviderChoice`]: which provider holds the chunks of a world, and which one is configured.

use std::path::Path;

use hyworld_coords::RegionPos;
use hyworld_providers::{ProviderConfig, ProviderKind};

/// The provider of a world's chunks, determined from its configuration and its resource.
#[derive(Clone, PartialEq, Debug)]
pub struct ProviderChoice {
    /// The provider that holds the chunks. Open this one.
    pub provider: ProviderConfig,
    /// The configured provider, if it is a different one. The game would migrate the world to it on
    /// its next start.
    pub pending: Option<ProviderConfig>,
}

impl ProviderChoice {
    /// Chooses between the configured and the current provider.
    ///
    /// Worlds from before February 2026 have no `current`. The game then uses the configured
    /// provider, so a world whose type was changed appears empty. This function uses the provider
    /// that has chunks.
    pub fn of(world: &Path, configured: &ProviderConfig, current: Option<&ProviderConfig>) -> Self {
        let found = match current {
            Some(current) if reaches(configured, current) => None,
            Some(current) => Some(current.clone()),
            None if has_chunks(world, configured.kind()) == Some(false) => other_with_chunks(world),
            None => None,
        };
        match found {
            None => Self { provider: configured.clone(), pending: None },
            Some(provider) => Self { provider, pending: Some(configured.clone()) },
        }
    }
}

/// Returns whether the chunks of `current` can be read through `configured` without a migration.
fn reaches(configured: &ProviderConfig, current: &ProviderConfig) -> bool {
    let loaders = match configured.kind() {
        ProviderKind::Migration => configured.loaders().unwrap_or_default(),
        _ => Vec::new(),
    };
    configured.is_same(current) || loaders.iter().any(|loader| loader.is_same(current))
}

/// Returns another provider of the game that has chunks in this world.
fn other_with_chunks(world: &Path) -> Option<ProviderConfig> {
    let mut others = [ProviderConfig::hytale(), ProviderConfig::new("RocksDb")].into_iter();
    others.find(|other| has_chunks(world, other.kind()) == Some(true))
}

/// Returns whether a provider of the game has chunks in this world.
pub(crate) fn holds_chunks(world: &Path, provider: &ProviderConfig) -> bool {
    has_chunks(world, provider.kind()) == Some(true)
}

/// Returns whether a provider has chunks in this world, or `None` if that is unknown.
fn has_chunks(world: &Path, kind: ProviderKind) -> Option<bool> {
    match kind {
        ProviderKind::Hytale | ProviderKind::IndexedStorage => {
            Some(has_region_files(&world.join("chunks")))
        }
        // Every RocksDB database has this file.
        ProviderKind::RocksDb => Some(world.join("db/CURRENT").exists()),
        _ => None,
    }
}

pub(crate) fn has_region_files(folder: &Path) -> bool {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.any(|name| RegionPos::from_file_name(&name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_testkit::write_file;
    use std::fs;
    use std::slice;

    #[test]
    fn config_and_resource_decide_together() {
        let world = tempfile::tempdir().unwrap();
        let hytale = ProviderConfig::hytale();
        let indexed = ProviderConfig::new("IndexedStorage");
        let rocks = ProviderConfig::new("RocksDb");
        let lazy = ProviderConfig::migration(slice::from_ref(&hytale), &rocks);
        let choice = |configured, current| ProviderChoice::of(world.path(), configured, current);
        let open = |provider: &ProviderConfig| ProviderChoice {
            provider: provider.clone(),
            pending: None,
        };
        assert_eq!(choice(&hytale, None), open(&hytale));
        assert_eq!(choice(&rocks, None), open(&rocks), "there are no chunks");
        assert_eq!(choice(&hytale, Some(&hytale)), open(&hytale));
        // The game migrates the second of these onto itself, and newer versions then delete it.
        assert_eq!(choice(&indexed, Some(&hytale)), open(&indexed));
        assert_eq!(choice(&hytale, Some(&indexed)), open(&hytale));
        assert_eq!(choice(&lazy, Some(&hytale)), open(&lazy), "its loaders reach the chunks");
        for (configured, current) in [(&rocks, &hytale), (&hytale, &rocks), (&rocks, &lazy)] {
            let expected =
                ProviderChoice { provider: current.clone(), pending: Some(configured.clone()) };
            assert_eq!(choice(configured, Some(current)), expected);
        }
    }

    #[test]
    fn without_a_resource_the_provider_with_chunks_is_chosen() {
        let world = tempfile::tempdir().unwrap();
        let (hytale, rocks) = (ProviderConfig::hytale(), ProviderConfig::new("RocksDb"));
        let found = |configured| ProviderChoice::of(world.path(), configured, None).provider;
        fs::create_dir(world.path().join("chunks")).unwrap();
        assert_eq!(found(&rocks), rocks);
        write_file(&world.path().join("chunks/0.0.region.bin"), b"");
        assert_eq!((found(&rocks), found(&hytale)), (hytale.clone(), hytale.clone()));
        fs::create_dir(world.path().join("db")).unwrap();
        write_file(&world.path().join("db/CURRENT"), b"");
        assert_eq!((found(&rocks), found(&hytale)), (rocks.clone(), hytale.clone()));
        let other = ProviderConfig::new("plugin:Cloud");
        assert_eq!(found(&other), other, "whether it has chunks is unknown");
    }
}
