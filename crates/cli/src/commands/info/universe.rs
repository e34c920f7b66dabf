//! What a universe has beside its worlds.

use std::path::PathBuf;

use hyworld_world::{BackupFile, Universe, backup_folder, find_backups};

use super::Problems;

/// A universe.
#[derive(Debug)]
pub(super) struct UniverseInfo {
    pub(super) path: PathBuf,
    pub(super) players: usize,
    /// Players of whom there is only a backup.
    pub(super) only_backups: usize,
    pub(super) resources: Vec<String>,
    pub(super) backup_folder: PathBuf,
    /// Newest first.
    pub(super) backups: Vec<BackupFile>,
}

impl UniverseInfo {
    pub(super) fn of(universe: &Universe, problems: &mut Problems) -> Self {
        let path = universe.path().to_owned();
        let players = or_none(universe.players().list(), problems);
        let backup_folder = backup_folder(&path);
        let backups = or_none(find_backups(&backup_folder), problems);
        let resources = or_none(universe.resources().ids(), problems);
        let only_backups = players.iter().filter(|player| player.is_only_backup).count();
        Self { path, players: players.len(), only_backups, resources, backup_folder, backups }
    }
}

fn or_none<T>(found: hyworld_world::Result<Vec<T>>, problems: &mut Problems) -> Vec<T> {
    found.unwrap_or_else(|error| {
        problems.add(error.to_string());
        Vec::new()
    })
}
