//! The manifest of `verify`: which file, and what is done with it.

use std::path::PathBuf;

use hyworld::{ManifestUse, OutputKind, check_output};
use hyworld_maintenance::Manifest;

use crate::args::storage::VerifyArgs;
use crate::exit::usage;
use crate::output::Console;

/// The manifest of one world.
#[derive(Default)]
pub(super) struct Chosen {
    path: Option<PathBuf>,
    old: Option<Manifest>,
    is_since: bool,
    is_update: bool,
}

impl Chosen {
    /// Reads the manifest that the arguments name. If there are several worlds, each has its own
    /// file, with the name of the world at the end.
    pub(super) fn new(args: &VerifyArgs, world: Option<&str>) -> anyhow::Result<Self> {
        if args.update && args.manifest.is_none() && args.since.is_none() {
            return Err(usage("--update needs --manifest or --since"));
        }
        let Some(path) = args.since.as_ref().or(args.manifest.as_ref()) else {
            return Ok(Self::default());
        };
        let path = match world {
            Some(world) => {
                hyworld::files::with_suffix(path, &format!(".{}", world.replace('/', "-")))
            }
            None => path.clone(),
        };
        let (is_since, is_update) = (args.since.is_some(), args.update);
        if is_since && !path.exists() {
            let advice = "write it first with --manifest";
            return Err(usage(format!("{}: no such manifest; {advice}", path.display())));
        }
        check_output(&path, OutputKind::Manifest)?;
        let old = if path.exists() { Some(Manifest::read(&path)?) } else { None };
        Ok(Self { path: Some(path), old, is_since, is_update })
    }

    /// Returns what the check does with the manifest.
    pub(super) fn usage(&self) -> ManifestUse<'_> {
        match (&self.path, &self.old) {
            (None, _) => ManifestUse::None,
            (Some(_), None) => ManifestUse::Create,
            (_, Some(old)) if self.is_since => ManifestUse::Since(old),
            (_, Some(old)) if self.is_update => ManifestUse::Update(old),
            (_, Some(old)) => ManifestUse::Compare(old),
        }
    }

    /// Writes the new manifest if it did not exist or is to be updated.
    pub(super) fn write(&self, new: Option<Manifest>, console: &mut Console) -> anyhow::Result<()> {
        let is_written = self.old.is_none() || self.is_update;
        let (Some(path), Some(new)) = (self.path.as_ref().filter(|_| is_written), new) else {
            return Ok(());
        };
        new.write(path)?;
        let (chunks, files) = (new.chunks.len(), new.files.len());
        Ok(console.say(format_args!(
            "{}: manifest of {chunks} chunks and {files} files written",
            path.display()
        ))?)
    }
}
