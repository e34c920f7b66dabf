//! [`GameFolders`]: the folders of the launcher, with the game and its saves.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hyworld_world::{PathKind, discover};

/// The release channels, which are folder names of the installation.
const LINES: [&str; 2] = ["release", "pre-release"];

/// The name of the game's assets in the installation and beside the jar of a dedicated server.
const ASSETS_FILE: &str = "Assets.zip";

/// The game's data folders on this computer, which the launcher created.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameFolders {
    homes: Vec<PathBuf>,
    searched: Vec<PathBuf>,
}

/// The assets of an installed game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstalledAssets {
    /// The release channel: `release` or `pre-release`.
    pub line: &'static str,
    /// The zip file.
    pub path: PathBuf,
}

impl GameFolders {
    /// Searches the usual folders of all systems, using the environment variables `APPDATA` on
    /// Windows, and `HOME` and `XDG_DATA_HOME` elsewhere.
    pub fn find() -> Self {
        Self::with_variables(|name| std::env::var_os(name))
    }

    fn with_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        // The XDG base directory specification says to ignore relative paths.
        let folder = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = folder("HOME").or_else(|| folder("USERPROFILE"));
        let in_home = |inside: &str| home.as_ref().map(|home| home.join(inside));
        let data = folder("XDG_DATA_HOME").or_else(|| in_home(".local/share"));
        let candidates = [
            folder("APPDATA"),
            in_home("Library/Application Support"),
            in_home(".var/app/com.hypixel.HytaleLauncher/data"),
            data,
        ];
        let mut searched = Vec::new();
        for candidate in candidates.into_iter().flatten() {
            let candidate = candidate.join("Hytale");
            if !searched.contains(&candidate) {
                searched.push(candidate);
            }
        }
        let homes = searched.iter().filter(|home| home.is_dir()).cloned().collect();
        Self { homes, searched }
    }

    /// Returns the data folders that exist.
    pub fn homes(&self) -> &[PathBuf] {
        &self.homes
    }

    /// Returns all folders that were searched.
    pub fn searched(&self) -> &[PathBuf] {
        &self.searched
    }

    /// Returns the saves in all data folders, sorted by path.
    pub fn saves(&self) -> Vec<PathBuf> {
        let folders = self.homes.iter().map(|home| home.join("UserData/Saves"));
        let entries = folders.filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let is_save = |path: &PathBuf| matches!(discover(path), Ok(PathKind::Save { .. }));
        let mut saves: Vec<_> = paths.filter(|path| path.is_dir()).filter(is_save).collect();
        saves.sort();
        saves
    }

    /// Returns the assets of all installed games, releases before pre-releases.
    pub fn assets(&self) -> Vec<InstalledAssets> {
        let inside = |line: &'static str| {
            let path = format!("install/{line}/package/game/latest/{ASSETS_FILE}");
            self.homes.iter().map(move |home| InstalledAssets { line, path: home.join(&path) })
        };
        LINES.into_iter().flat_map(inside).filter(|assets| assets.path.is_file()).collect()
    }

    /// Returns the assets for a world: those in a folder above the world, where a dedicated server
    /// keeps them, otherwise those of an installed game.
    pub fn assets_for(&self, world: &Path) -> Option<PathBuf> {
        let world = world.canonicalize().ok()?;
        // The world is at SAVE/universe/worlds/NAME.
        let around = world.ancestors().skip(1).take(4).map(|folder| folder.join(ASSETS_FILE));
        let mut around = around.filter(|path| path.is_file());
        around.next().or_else(|| self.assets().into_iter().next().map(|assets| assets.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn create_file(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::File::create(path).unwrap();
    }

    #[test]
    fn data_folders_of_every_system_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for (variable, value, home) in [
            ("APPDATA", "windows", "windows/Hytale"),
            ("HOME", "mac", "mac/Library/Application Support/Hytale"),
            ("HOME", "flat", "flat/.var/app/com.hypixel.HytaleLauncher/data/Hytale"),
            ("HOME", "plain", "plain/.local/share/Hytale"),
            ("XDG_DATA_HOME", "xdg", "xdg/Hytale"),
        ] {
            let home = root.join(home);
            create_file(&home.join("UserData/Saves/My World/universe/worlds/default/config.json"));
            create_file(&home.join("UserData/Saves/notes/readme.txt"));
            let assets = home.join("install/pre-release/package/game/latest/Assets.zip");
            create_file(&assets);
            let set = |name: &str| (name == variable).then(|| root.join(value).into());
            let folders = GameFolders::with_variables(set);
            assert_eq!(folders.homes().first(), Some(&home));
            assert_eq!(folders.saves(), [home.join("UserData/Saves/My World")]);
            let expected = InstalledAssets { line: "pre-release", path: assets.clone() };
            assert_eq!(folders.assets(), [expected]);
            let world = home.join("UserData/Saves/My World/universe/worlds/default");
            assert_eq!(folders.assets_for(&world), Some(assets));
            let beside = world.canonicalize().unwrap();
            let beside = beside.ancestors().nth(3).unwrap().join("Assets.zip");
            create_file(&beside);
            assert_eq!(folders.assets_for(&world), Some(beside), "the server's assets come first");
        }
    }

    #[test]
    fn without_variables_no_folder_is_searched() {
        let none = GameFolders::with_variables(|_| None);
        assert!(none.homes().is_empty() && none.searched().is_empty() && none.saves().is_empty());
        let relative = GameFolders::with_variables(|_| Some("relative".into()));
        assert!(relative.searched().is_empty());
    }
}
