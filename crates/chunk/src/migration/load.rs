//! Loads migration assets from the user's game files: a folder, or the game's asset zip.

#[cfg(feature = "zip")]
use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{BlockMigration, BlockMigrations, asset_number};

/// The path of the assets inside the game's asset folder or zip.
const FOLDER: &str = "Server/Item/Block/Migrations";

/// The maximum size of an asset, in case a file is unrelated. The game's are a few kilobytes.
const ASSET_BYTES_MAX: u64 = 16 << 20;

/// The maximum number of assets. The game has about ten.
const ASSETS_MAX: usize = 10_000;

/// The maximum number of files in a zip. The game's assets have a few tens of thousands.
#[cfg(feature = "zip")]
const ZIP_ENTRIES_MAX: usize = 1 << 20;

/// An error from loading migration assets.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MigrationError {
    /// A file or folder cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reported error.
        source: io::Error,
    },
    /// The text is not a migration asset.
    #[error("{origin}{}{reason}", if origin.is_empty() { "" } else { ": " })]
    Malformed {
        /// The file, if the asset came from one.
        origin: String,
        /// The reason.
        reason: String,
    },
    /// There are no migration assets.
    #[error(
        "{}: no block migrations found; expected files 0.json, 1.json, ... in it or in its \
         subfolder {FOLDER}", path.display()
    )]
    NoneFound {
        /// The folder or zip.
        path: PathBuf,
    },
}

impl MigrationError {
    /// Sets the origin of a malformed asset if it has none.
    pub(super) fn inside(self, origin_name: &str) -> Self {
        match self {
            Self::Malformed { origin, reason } if origin.is_empty() => {
                Self::Malformed { origin: origin_name.to_owned(), reason }
            }
            other => other,
        }
    }
}

impl BlockMigrations {
    /// Reads all `<number>.json` files of a folder, which is the folder of the migrations or one
    /// that contains `Server/Item/Block/Migrations`. Other files are ignored.
    ///
    /// # Errors
    /// Returns an error if the folder or a file cannot be read, a file is not a migration asset, or
    /// there are no assets.
    pub fn from_folder(path: impl AsRef<Path>) -> Result<Self, MigrationError> {
        let path = path.as_ref();
        let inner = path.join(FOLDER);
        let folder = if inner.is_dir() { inner } else { path.to_owned() };
        let failed = |source| MigrationError::Io { path: folder.clone(), source };
        let mut migrations = Self::default();
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if let Some(number) = file_number(name)
                && file.is_file()
            {
                let read = File::open(&file).and_then(read_text);
                let text = read.map_err(|source| MigrationError::Io { path: file.clone(), source });
                migrations.add(number, &text?, &file.display().to_string(), path)?;
            }
        }
        migrations.or_none_found(path)
    }

    /// Reads `Server/Item/Block/Migrations/<number>.json` from a zip such as the game's assets.
    ///
    /// # Errors
    /// Returns an error if the zip or a file in it cannot be read, a file is not a migration asset,
    /// or there are no assets.
    #[cfg(feature = "zip")]
    pub fn from_zip(path: impl AsRef<Path>) -> Result<Self, MigrationError> {
        let path = path.as_ref();
        let failed = |source| MigrationError::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        let zip = zip::ZipArchive::new(io::BufReader::new(file));
        let mut zip = zip.map_err(|error| failed(error.into()))?;
        if zip.len() > ZIP_ENTRIES_MAX {
            return Err(failed(io::Error::other(format!("more than {ZIP_ENTRIES_MAX} files"))));
        }
        // A name that is not valid text is not the name of an asset.
        let numbered = |name: Cow<'_, str>| Some((zip_number(&name)?, name.into_owned()));
        let names: Vec<(u32, String)> =
            zip.file_names().filter_map(Result::ok).filter_map(numbered).collect();
        let mut migrations = Self::default();
        for (number, name) in names {
            let file = path.join(&name);
            let failed = |source| MigrationError::Io { path: file.clone(), source };
            let entry = zip.by_name(&name).map_err(|error| failed(error.into()))?;
            let text = read_text(entry).map_err(failed)?;
            migrations.add(number, &text, &file.display().to_string(), path)?;
        }
        migrations.or_none_found(path)
    }

    fn add(
        &mut self,
        number: u32,
        text: &str,
        origin: &str,
        path: &Path,
    ) -> Result<(), MigrationError> {
        if self.assets.len() >= ASSETS_MAX {
            let source = io::Error::other(format!("more than {ASSETS_MAX} migrations"));
            return Err(MigrationError::Io { path: path.to_owned(), source });
        }
        let asset = BlockMigration::from_json(text).map_err(|error| error.inside(origin))?;
        self.insert(number, asset);
        Ok(())
    }

    fn or_none_found(self, path: &Path) -> Result<Self, MigrationError> {
        if self.is_empty() {
            return Err(MigrationError::NoneFound { path: path.to_owned() });
        }
        Ok(self)
    }
}

fn file_number(name: &str) -> Option<u32> {
    asset_number(name.strip_suffix(".json")?)
}

#[cfg(feature = "zip")]
fn zip_number(name: &str) -> Option<u32> {
    file_number(name.strip_prefix(FOLDER)?.strip_prefix('/')?)
}

/// Reads text up to the size limit. The size that an archive states is not trusted.
fn read_text(from: impl Read) -> io::Result<String> {
    let mut text = String::new();
    let read = from.take(ASSET_BYTES_MAX + 1).read_to_string(&mut text)?;
    if u64::try_from(read).is_ok_and(|read| read <= ASSET_BYTES_MAX) {
        return Ok(text);
    }
    Err(io::Error::other(format!("larger than {ASSET_BYTES_MAX} bytes")))
}

#[cfg(test)]
mod tests {
    use hyworld_testkit::write_file;

    use super::*;

    const ASSETS: [(&str, &str); 2] = [
        ("0.json", r#"{"DirectMigrations": {"Lab_Old": "Lab_Mid"}}"#),
        ("1.json", r#"{"NameMigrations": {"Lab_Mid": "Lab_New"}}"#),
    ];

    fn write(folder: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(folder).unwrap();
        for (name, text) in files {
            write_file(&folder.join(name), text.as_bytes());
        }
    }

    #[test]
    fn a_folder_is_read() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &ASSETS);
        write(folder.path(), &[("notes.json", "{"), ("01.json", "{"), ("2.txt", ""), ("json", "")]);
        fs::create_dir(folder.path().join("2.json")).unwrap();
        let migrations = BlockMigrations::from_folder(folder.path()).unwrap();
        assert_eq!(migrations.migrate("Lab_Old", 0), ("Lab_New", 2));
    }

    #[test]
    fn a_folder_of_all_assets_is_read() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("Server/Item/Block/Migrations"), &ASSETS);
        write(folder.path(), &[("2.json", "not this one")]);
        let migrations = BlockMigrations::from_folder(folder.path()).unwrap();
        assert_eq!(migrations.version(), 2);
    }

    #[test]
    fn errors_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("nowhere");
        let error = BlockMigrations::from_folder(&missing).unwrap_err();
        assert!(matches!(&error, MigrationError::Io { path, .. } if *path == missing), "{error}");

        let error = BlockMigrations::from_folder(folder.path()).unwrap_err();
        let expected = format!(
            "{}: no block migrations found; expected files 0.json, 1.json, ... in it or in its \
             subfolder Server/Item/Block/Migrations",
            folder.path().display()
        );
        assert_eq!(error.to_string(), expected);

        write(folder.path(), &[("7.json", "[1]")]);
        let error = BlockMigrations::from_folder(folder.path()).unwrap_err();
        let file = folder.path().join("7.json");
        let expected = format!("{}: the migration is not an object", file.display());
        assert_eq!(error.to_string(), expected);

        write_file(&file, b"\xFF");
        let error = BlockMigrations::from_folder(folder.path()).unwrap_err();
        assert!(matches!(&error, MigrationError::Io { path, .. } if *path == file), "{error}");
    }

    #[test]
    fn texts_have_a_limit() {
        let text = |bytes: u64| read_text(io::repeat(b'x').take(bytes)).map(|text| text.len());
        assert_eq!(text(16 << 20).unwrap(), 16 << 20);
        let error = text((16 << 20) + 1).unwrap_err();
        assert_eq!(error.to_string(), "larger than 16777216 bytes");
    }

    #[cfg(feature = "zip")]
    mod zipped {
        use std::io::Write;

        use zip::write::SimpleFileOptions;
        use zip::{CompressionMethod, ZipWriter};

        use super::*;

        fn zip_file(path: &Path, files: &[(&str, &str)]) {
            let mut zip = ZipWriter::new(File::create(path).unwrap());
            let methods = [CompressionMethod::Deflated, CompressionMethod::Stored];
            for ((name, text), method) in files.iter().zip(methods.into_iter().cycle()) {
                let options = SimpleFileOptions::default().compression_method(method);
                zip.start_file(*name, options).unwrap();
                zip.write_all(text.as_bytes()).unwrap();
            }
            zip.finish().unwrap();
        }

        #[test]
        fn a_zip_is_read() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("Assets.zip");
            let [(_, first), (_, second)] = ASSETS;
            zip_file(
                &path,
                &[
                    ("Server/Item/Block/Migrations/1.json", second),
                    ("Server/Item/Block/Migrations/0.json", first),
                    ("Server/Item/Block/Migrations/deeper/2.json", "{"),
                    ("Other/Server/Item/Block/Migrations/2.json", "{"),
                    ("2.json", "{"),
                ],
            );
            let migrations = BlockMigrations::from_zip(&path).unwrap();
            assert_eq!(migrations.migrate("Lab_Old", 0), ("Lab_New", 2));
        }

        #[test]
        fn errors_name_the_file_in_the_zip() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("Assets.zip");
            zip_file(&path, &[("0.json", "{}")]);
            let error = BlockMigrations::from_zip(&path).unwrap_err();
            assert!(matches!(error, MigrationError::NoneFound { .. }), "{error}");

            let name = "Server/Item/Block/Migrations/5.json";
            zip_file(&path, &[(name, "[]")]);
            let error = BlockMigrations::from_zip(&path).unwrap_err();
            let file = path.join(name);
            let expected = format!("{}: the migration is not an object", file.display());
            assert_eq!(error.to_string(), expected);

            write_file(&path, b"PK or not");
            let error = BlockMigrations::from_zip(&path).unwrap_err();
            assert!(matches!(&error, MigrationError::Io { path: at, .. } if *at == path));
        }

        /// Unused bytes of a zip must not matter; all others must not cause a panic.
        #[test]
        fn damaged_zips_are_errors_or_read_the_same() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("Assets.zip");
            zip_file(&path, &[("Server/Item/Block/Migrations/0.json", ASSETS[0].1)]);
            let good = fs::read(&path).unwrap();
            let expected = BlockMigrations::from_zip(&path).unwrap();
            for position in 0..good.len() {
                let mut bytes = good.clone();
                bytes[position] ^= 1 << (position % 8);
                write_file(&path, &bytes);
                if let Ok(migrations) = BlockMigrations::from_zip(&path) {
                    assert!(migrations == expected || migrations.version() == 0, "{position}");
                }
                write_file(&path, &good[..position]);
                assert!(BlockMigrations::from_zip(&path).is_err(), "{position} bytes");
            }
        }
    }
}
