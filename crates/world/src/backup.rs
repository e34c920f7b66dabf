//! [`Backup`]: reads the zip files in which the game backs up a universe.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_documents::{Document, Value};
use hyworld_files::{OsFileSystem, open_regular};
use hyworld_providers::RegionImage;
use zip::ZipArchive;

use crate::error::{Error, Result};
use crate::json_file::{FallbackRule, JsonFile, parse_text};
use crate::limits::{BACKUP_ENTRIES_MAX, BACKUP_REGION_BYTES_MAX, JSON_BYTES_MAX};

/// The subfolder into which the game moves old backups.
const ARCHIVE_FOLDER: &str = "archive";

/// The time of a backup, in the local time of the server: year, month, day, hour, minute, second.
pub type BackupTime = [u16; 6];

/// A backup file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackupFile {
    /// The zip.
    pub path: PathBuf,
    /// The time of the backup, from its name.
    pub time: BackupTime,
    /// Whether it is in the archive folder.
    pub is_archived: bool,
}

/// Returns the backup folder of a universe: the one set in the server's configuration, otherwise
/// `backup` next to the universe. It need not exist.
///
/// ```
/// use hyworld_world::backup_folder;
///
/// # let save = tempfile::tempdir()?;
/// let universe = save.path().join("universe");
/// assert_eq!(backup_folder(&universe), save.path().join("backup"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn backup_folder(universe: &Path) -> PathBuf {
    // A path without a file name, such as `.`, still has a parent.
    let save = match universe.file_name() {
        Some(_) => universe.parent().unwrap_or_else(|| Path::new("")).to_owned(),
        None => universe.join(".."),
    };
    let config = JsonFile::new(&OsFileSystem, save.join("config.json"), FallbackRule::Config);
    let document = config.load().map(|loaded| loaded.document).unwrap_or_default();
    let settings = document.get("Backup").and_then(Value::as_document);
    let named = settings.and_then(|settings| settings.get("Directory")).and_then(Value::as_str);
    // Relative paths start at the folder of the save, where the server runs.
    save.join(named.unwrap_or("backup"))
}

/// Returns the backups in a folder and its archive, newest first. Other files are ignored.
///
/// # Errors
/// Returns an error if a folder cannot be listed.
pub fn find_backups(folder: &Path) -> Result<Vec<BackupFile>> {
    let mut found = Vec::new();
    for (folder, is_archived) in [(folder.to_owned(), false), (folder.join(ARCHIVE_FOLDER), true)] {
        let entries = match folder.read_dir() {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::io(&folder, "list")(error)),
        };
        for entry in entries {
            let path = entry.map_err(Error::io(&folder, "list"))?.path();
            let time = path.file_name().and_then(|name| time_of(name.to_str()?));
            found.extend(time.map(|time| BackupFile { path, time, is_archived }));
        }
    }
    found.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.path.cmp(&b.path)));
    Ok(found)
}

/// Parses the time in a file name such as `2026-03-26_18-05-00.zip`.
fn time_of(name: &str) -> Option<BackupTime> {
    const SHAPE: &str = "dddd-dd-dd_dd-dd-dd";
    let stem = name.strip_suffix(".zip").filter(|stem| stem.len() == SHAPE.len())?;
    let has_shape = stem.bytes().zip(SHAPE.bytes()).all(|(found, wanted)| match wanted {
        b'd' => found.is_ascii_digit(),
        _ => found == wanted,
    });
    let mut numbers = stem.split(['-', '_']).map(|digits| digits.parse().ok());
    let mut time = [0; 6];
    for field in &mut time {
        *field = numbers.next()??;
    }
    let [_, month, day, hour, minute, second] = time;
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    (has_shape && is_date && hour < 24 && minute < 60 && second < 60).then_some(time)
}

/// A file in a backup.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackupEntry {
    /// The path in the universe, with `/` as separator.
    pub name: String,
    /// The length in bytes.
    pub bytes: u64,
}

/// An open backup.
#[derive(Debug)]
pub struct Backup {
    path: PathBuf,
    zip: ZipArchive<BufReader<File>>,
    /// The index of every file in the zip, by name.
    names: BTreeMap<String, usize>,
}

impl Backup {
    /// Opens a backup.
    ///
    /// # Errors
    /// Returns an error if the file is not a zip or has too many entries.
    pub fn open(path: &Path) -> Result<Self> {
        let file = open_regular(path).map_err(Error::io(path, "open"))?;
        let broken = |problem: String| Error::Backup { path: path.to_owned(), problem };
        let zip = ZipArchive::new(BufReader::new(file));
        let mut zip = zip.map_err(|error| broken(format!("not a backup: {error}")))?;
        if zip.len() > BACKUP_ENTRIES_MAX {
            let problem =
                format!("{} files; at most {BACKUP_ENTRIES_MAX} are supported", zip.len());
            return Err(broken(problem));
        }
        let mut names = BTreeMap::new();
        for index in 0..zip.len() {
            // Skip damaged entries.
            let Ok(entry) = zip.by_index_raw(index) else { continue };
            // Servers on Windows used \ as separator until the spring of 2026.
            if let Ok(name) = entry.name() {
                names.insert(name.replace('\\', "/"), index);
            }
        }
        Ok(Self { path: path.to_owned(), zip, names })
    }

    /// Returns the path of the zip.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the files in the backup, sorted by name.
    ///
    /// # Errors
    /// Returns an error if the zip is damaged.
    pub fn entries(&mut self) -> Result<Vec<BackupEntry>> {
        let mut entries = Vec::new();
        for (name, index) in &self.names {
            let entry = self.zip.by_index_raw(*index).map_err(failed(&self.path, name))?;
            entries.push(BackupEntry { name: name.clone(), bytes: entry.size() });
        }
        Ok(entries)
    }

    /// Returns the names of the worlds in the backup, sorted.
    pub fn worlds(&self) -> Vec<String> {
        let inside = self.names.keys().filter_map(|name| name.strip_prefix("worlds/"));
        let world = |path: &str| {
            let end = [path.find("/chunks/"), path.find("/config.json"), path.find("/resources/")];
            let end = end.into_iter().flatten().min()?;
            path.get(..end).map(str::to_owned)
        };
        inside.filter_map(world).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns the regions of a world in the backup, sorted.
    pub fn regions(&self, world: &str) -> Vec<RegionPos> {
        let folder = format!("worlds/{world}/chunks/");
        let files = self.names.keys().filter_map(|name| name.strip_prefix(&folder));
        let mut regions: Vec<_> = files.filter_map(RegionPos::from_file_name).collect();
        regions.sort_unstable();
        regions
    }

    /// Reads a region of a world, a large one into a temporary file. Returns `None` if it is not in
    /// the backup.
    ///
    /// # Errors
    /// Returns an error if the region cannot be read.
    pub fn region(&mut self, world: &str, region: RegionPos) -> Result<Option<RegionImage>> {
        let name = format!("worlds/{world}/chunks/{}", region.file_name());
        let Some(index) = self.names.get(&name) else { return Ok(None) };
        let entry = self.zip.by_index(*index).map_err(failed(&self.path, &name))?;
        let (max, full) = (BACKUP_REGION_BYTES_MAX, self.path.join(&name));
        let image = RegionImage::read_from(region, entry, max, &full)?;
        image.map(Some).ok_or_else(|| self.too_large(&name, max))
    }

    /// Reads the document of a chunk. Returns `None` if it is not in the backup.
    ///
    /// # Errors
    /// Returns an error if the chunk cannot be read.
    pub fn chunk(&mut self, world: &str, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        match self.region(world, at.region())? {
            Some(region) => Ok(region.read(at)?),
            None => Ok(None),
        }
    }

    /// Reads a JSON file by its path in the universe, such as `worlds/default/config.json`. Returns
    /// `None` if it is not in the backup.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or parsed.
    pub fn document(&mut self, name: &str) -> Result<Option<Document>> {
        let Some(bytes) = self.read(name, JSON_BYTES_MAX)? else { return Ok(None) };
        let path = self.path.join(name);
        parse_text(&bytes).map(Some).map_err(|problem| Error::NotJson { path, problem })
    }

    /// Reads a file by its path in the universe, such as `players/UUID.json`. Returns `None` if it
    /// is not in the backup.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is too large.
    pub fn file(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        self.read(name, JSON_BYTES_MAX)
    }

    fn read(&mut self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>> {
        let Some(index) = self.names.get(name) else { return Ok(None) };
        let entry = self.zip.by_index(*index).map_err(failed(&self.path, name))?;
        let mut bytes = Vec::new();
        let read = entry.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(Error::io(&self.path.join(name), "read"))?;
        if bytes.len() as u64 > bytes_max {
            return Err(self.too_large(name, bytes_max));
        }
        Ok(Some(bytes))
    }

    fn too_large(&self, name: &str, bytes_max: u64) -> Error {
        let problem = format!("{name} has more than {bytes_max} bytes");
        Error::Backup { path: self.path.clone(), problem }
    }
}

fn failed(path: &Path, name: &str) -> impl FnOnce(zip::result::ZipError) -> Error {
    let (path, name) = (path.to_owned(), name.to_owned());
    move |error| Error::Backup { path, problem: format!("{name}: {error}") }
}

/// The result of a search through backups.
#[derive(Debug, Default)]
pub struct BackupSearch {
    /// The newest backup that has the chunk, and its document.
    pub found: Option<(BackupFile, Vec<u8>)>,
    /// Errors of newer backups that could not be read.
    pub problems: Vec<Error>,
}

/// Searches for a chunk in all backups, newest first. Skips backups that are damaged or do not
/// contain the chunk.
///
/// # Errors
/// Returns an error if the folder cannot be listed.
pub fn find_chunk_in_backups(folder: &Path, world: &str, at: ChunkPos) -> Result<BackupSearch> {
    let mut search = BackupSearch::default();
    for file in find_backups(folder)? {
        match Backup::open(&file.path).and_then(|mut backup| backup.chunk(world, at)) {
            Ok(Some(document)) => {
                search.found = Some((file, document));
                break;
            }
            Ok(None) => {}
            Err(error) => search.problems.push(error),
        }
    }
    Ok(search)
}
