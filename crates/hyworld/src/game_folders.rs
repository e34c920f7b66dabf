//! [`GameFolders`]: where the launcher keeps the game and its saves.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hyworld_world::{PathKind, discover};

/// Where the assets are below a home of the game, for each line of releases.
const LINES: [&str; 2] = ["release", "pre-release"];

/// The name of the game's assets, also beside the jar of a dedicated server.
const ASSETS_FILE: &str = "Assets.zip";

/// The homes of the game on this computer: folders that the launcher made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameFolders {
    homes: Vec<PathBuf>,
    looked_in: Vec<PathBuf>,
}

/// The assets of an installed game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstalledAssets {
    /// `release` or `pre-release`.
    pub line: &'static str,
    /// The zip.
    pub path: PathBuf,
}

impl GameFolders {
    /// Looks in the usual folders of every system, with the variables of the environment: `APPDATA`
    /// on Windows, `HOME` and `XDG_DATA_HOME` elsewhere.
    pub fn find() -> Self {
        Self::with_variables(|name| std::env::var_os(name))
    }

    fn with_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        // As the base directory specification says, a relative path does not count.
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
        let mut looked_in = Vec::new();
        for candidate in candidates.into_iter().flatten() {
            let candidate = candidate.join("Hytale");
            if !looked_in.contains(&candidate) {
                looked_in.push(candidate);
            }
        }
        let homes = looked_in.iter().filter(|home| home.is_dir()).cloned().collect();
        Self { homes, looked_in }
    }

    /// The folders that exist.
    pub fn homes(&self) -> &[PathBuf] {
        &self.homes
    }

    /// The folders in which the game was looked for.
    pub fn looked_in(&self) -> &[PathBuf] {
        &self.looked_in
    }

    /// The saves of all homes, by path.
    pub fn saves(&self) -> Vec<PathBuf> {
        let folders = self.homes.iter().map(|home| home.join("UserData/Saves"));
        let entries = folders.filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let is_save = |path: &PathBuf| matches!(discover(path), Ok(PathKind::Save { .. }));
        let mut saves: Vec<_> = paths.filter(|path| path.is_dir()).filter(is_save).collect();
        saves.sort();
        saves
    }

    /// The assets of all installed games, releases before pre-releases.
    pub fn assets(&self) -> Vec<InstalledAssets> {
        let inside = |line: &'static str| {
            let path = format!("install/{line}/package/game/latest/{ASSETS_FILE}");
            self.homes.iter().map(move |home| InstalledAssets { line, path: home.join(&path) })
        };
        LINES.into_iter().flat_map(inside).filter(|assets| assets.path.is_file()).collect()
    }

    /// The assets that belong to a world: those beside its save or one level above, where a
    /// dedicated server keeps them, or else those of an installed game.
    pub fn assets_for(&self, world: &Path) -> Option<PathBuf> {
        let world = world.canonicalize().ok()?;
        // The world is in `worlds/` of the universe of the save.
        let around = world.ancestors().skip(1).take(4).map(|folder| folder.join(ASSETS_FILE));
        let mut around = around.filter(|path| path.is_file());
        around.next().or_else(|| self.assets().into_iter().next().map(|assets| assets.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Makes a file and the folders that it is in.
    fn make(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::File::create(path).unwrap();
    }

    #[test]
    fn homes_of_every_system_are_found() {
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
            make(&home.join("UserData/Saves/My World/universe/worlds/default/config.json"));
            make(&home.join("UserData/Saves/notes/readme.txt"));
            let assets = home.join("install/pre-release/package/game/latest/Assets.zip");
            make(&assets);
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
            make(&beside);
            assert_eq!(folders.assets_for(&world), Some(beside), "those of the server");
        }
    }

    #[test]
    fn without_variables_nothing_is_looked_for() {
        let none = GameFolders::with_variables(|_| None);
        assert!(none.homes().is_empty() && none.looked_in().is_empty() && none.saves().is_empty());
        let relative = GameFolders::with_variables(|_| Some("relative".into()));
        assert!(relative.looked_in().is_empty());
    }
}
