//! [`UndoRoot`]: the folder below which an undo may change files.

use std::path::{Component, Path, PathBuf};

use hyworld_files::FileError;

use super::path_text::path_of_text;
use super::{Result, UndoError, unusable};

/// The folder whose files are restored. A bundle cannot name a file outside of it, and links that
/// lead out of it are refused.
#[derive(Clone, Debug)]
pub struct UndoRoot {
    folder: PathBuf,
    /// The folder itself and those that links may lead to, without links.
    allowed: Vec<PathBuf>,
}

impl UndoRoot {
    /// Allows changes below `folder`.
    ///
    /// # Errors
    /// Returns an error if the folder does not exist.
    pub fn new(folder: &Path) -> Result<Self> {
        let real = folder.canonicalize().map_err(FileError::at(folder, "resolve"))?;
        Ok(Self { folder: folder.to_owned(), allowed: vec![real] })
    }

    /// Also allows links inside the folder that lead to `folder`, for example if the region files
    /// are on another disk.
    ///
    /// # Errors
    /// Returns an error if the folder does not exist.
    pub fn allow(mut self, folder: &Path) -> Result<Self> {
        let real = folder.canonicalize().map_err(FileError::at(folder, "resolve"))?;
        self.allowed.push(real);
        Ok(self)
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of a file that a bundle names.
    ///
    /// # Errors
    /// Returns an error if the name or a link leads out of the folder, or if it is not a file.
    pub fn path_of(&self, name: &str, bundle: &Path) -> Result<PathBuf> {
        let relative = path_of_text(name).filter(|path| !path.as_os_str().is_empty());
        let is_normal =
            |path: &PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
        let relative = relative.filter(is_normal).ok_or_else(|| {
            unusable(bundle, &format!("it names a file outside of the world: {name:?}"))
        })?;
        let path = self.folder.join(relative);
        self.check(&path)?;
        if path.exists() && !path.is_file() {
            return Err(unusable(bundle, &format!("it names a folder or a device: {name:?}")));
        }
        Ok(path)
    }

    /// Fails if links lead out of the folder.
    ///
    /// # Errors
    /// Returns an error if they do, or if a link is broken.
    pub fn check(&self, path: &Path) -> Result<()> {
        let exists = |path: &&Path| path.symlink_metadata().is_ok();
        let existing = path.ancestors().find(exists).unwrap_or(&self.folder);
        let real = existing.canonicalize().map_err(FileError::at(existing, "follow the link"))?;
        if self.allowed.iter().any(|allowed| real.starts_with(allowed)) {
            return Ok(());
        }
        Err(UndoError::Linked { path: existing.to_owned(), target: real })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (world, bundle) = (folder.path().join("world"), Path::new("b.hyundo"));
        std::fs::create_dir_all(world.join("chunks")).unwrap();
        let root = UndoRoot::new(&world).unwrap();
        for name in ["", "..", "../x", "/etc/x", "a/../../x", "..%2Fx", "%2Fx", "chunks", "%"] {
            let refused = root.path_of(name, bundle);
            assert!(matches!(refused, Err(UndoError::Bundle { .. })), "{name}: {refused:?}");
        }
        for name in ["config.json", "chunks/0.0.region.bin", "new/folder/x"] {
            assert_eq!(root.path_of(name, bundle).unwrap(), world.join(name));
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_are_refused() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let [world, outside] = ["world", "outside"].map(|name| folder.path().join(name));
        for path in [world.join("inside"), outside.join("deeper")] {
            std::fs::create_dir_all(path).unwrap();
        }
        hyworld_testkit::write_file(&outside.join("file"), b"");
        symlink(&outside, world.join("folder")).unwrap();
        symlink(outside.join("file"), world.join("file")).unwrap();
        symlink(outside.join("none"), world.join("broken")).unwrap();
        symlink(world.join("inside"), world.join("fine")).unwrap();
        let (root, bundle) = (UndoRoot::new(&world).unwrap(), Path::new("b.hyundo"));
        for name in ["folder/x", "folder/deeper/x", "folder/new/x", "file", "broken"] {
            assert!(root.path_of(name, bundle).is_err(), "{name}");
        }
        assert!(root.path_of("fine/x", bundle).is_ok());
        let root = root.allow(&outside).unwrap();
        for name in ["folder/x", "folder/new/x", "file", "fine/x"] {
            assert!(root.path_of(name, bundle).is_ok(), "{name}");
        }
        assert!(root.path_of("broken", bundle).is_err());
    }
}
