//! [`Backup`]: a zip that the game made of a universe, and what can be read out of it.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_documents::{Document, Value};
use hyworld_files::OsFileSystem;
use hyworld_providers::RegionImage;
use zip::ZipArchive;

use crate::error::{Error, Result};
use crate::json_file::{FallbackRule, JsonFile, parse_text};
use crate::limits::{BACKUP_ENTRIES_MAX, BACKUP_REGION_BYTES_MAX, JSON_BYTES_MAX};

/// The folder in that of backups into which old ones are moved.
const ARCHIVE_FOLDER: &str = "archive";

/// When a backup was made, in the local time of the server: year, month, day, hour, minute,
/// second.
pub type BackupTime = [u16; 6];

/// A backup that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackupFile {
    /// The zip.
    pub path: PathBuf,
    /// When it was made, from its name.
    pub time: BackupTime,
    /// Whether it is in the archive.
    pub is_archived: bool,
}

/// The folder that backups of a universe are in: the one that the server's configuration names,
/// else `backup` beside the universe. It need not exist.
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
    // A path without a name, such as `.`, has its parent beside it all the same.
    let save = match universe.file_name() {
        Some(_) => universe.parent().unwrap_or_else(|| Path::new("")).to_owned(),
        None => universe.join(".."),
    };
    let config = JsonFile::new(&OsFileSystem, save.join("config.json"), FallbackRule::Config);
    let document = config.load().map(|loaded| loaded.document).unwrap_or_default();
    let settings = document.get("Backup").and_then(Value::as_document);
    let named = settings.and_then(|settings| settings.get("Directory")).and_then(Value::as_str);
    // The server runs in the folder of the save.
    save.join(named.unwrap_or("backup"))
}

/// The backups in a folder and in its archive, newest first. Other files are passed over.
///
/// # Errors
/// A folder cannot be listed.
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

/// The time in a name such as `2026-03-26_18-05-00.zip`.
fn time_of(name: &str) -> Option<BackupTime> {
    const SHAPE: &str = "dddd-dd-dd_dd-dd-dd";
    let stem = name.strip_suffix(".zip").filter(|stem| stem.len() == SHAPE.len())?;
    let fits = stem.bytes().zip(SHAPE.bytes()).all(|(found, wanted)| match wanted {
        b'd' => found.is_ascii_digit(),
        _ => found == wanted,
    });
    let mut numbers = stem.split(['-', '_']).map(|digits| digits.parse().ok());
    let mut time = [0; 6];
    for place in &mut time {
        *place = numbers.next()??;
    }
    let [_, month, day, hour, minute, second] = time;
    let is_time = (1..=12).contains(&month) && (1..=31).contains(&day);
    (fits && is_time && hour < 24 && minute < 60 && second < 60).then_some(time)
}

/// A file in a backup.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackupEntry {
    /// Its path in the universe, with `/` between folders.
    pub name: String,
    /// Its length.
    pub bytes: u64,
}

/// A backup that is open.
#[derive(Debug)]
pub struct Backup {
    path: PathBuf,
    zip: ZipArchive<BufReader<File>>,
    /// The place of every file in the zip, by its name.
    names: BTreeMap<String, usize>,
}

impl Backup {
    /// Opens a backup.
    ///
    /// # Errors
    /// It is no zip, or one with too many files.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path, "open"))?;
        let broken = |problem: String| Error::Backup { path: path.to_owned(), problem };
        let zip = ZipArchive::new(BufReader::new(file));
        let mut zip = zip.map_err(|error| broken(format!("not a backup: {error}")))?;
        if zip.len() > BACKUP_ENTRIES_MAX {
            let problem = format!("{} files; at most {BACKUP_ENTRIES_MAX} are read", zip.len());
            return Err(broken(problem));
        }
        let mut names = BTreeMap::new();
        for place in 0..zip.len() {
            // A damaged entry does not cost the others.
            let Ok(entry) = zip.by_index_raw(place) else { continue };
            // Servers on Windows wrote \ until the spring of 2026.
            if let Ok(name) = entry.name() {
                names.insert(name.replace('\\', "/"), place);
            }
        }
        Ok(Self { path: path.to_owned(), zip, names })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its files, sorted by name.
    ///
    /// # Errors
    /// The zip is damaged.
    pub fn entries(&mut self) -> Result<Vec<BackupEntry>> {
        let mut entries = Vec::new();
        for (name, place) in &self.names {
            let entry = self.zip.by_index_raw(*place).map_err(failed(&self.path, name))?;
            entries.push(BackupEntry { name: name.clone(), bytes: entry.size() });
        }
        Ok(entries)
    }

    /// The names of its worlds, sorted.
    pub fn worlds(&self) -> Vec<String> {
        let inside = self.names.keys().filter_map(|name| name.strip_prefix("worlds/"));
        let world = |path: &str| {
            let end = [path.find("/chunks/"), path.find("/config.json"), path.find("/resources/")];
            let end = end.into_iter().flatten().min()?;
            path.get(..end).map(str::to_owned)
        };
        inside.filter_map(world).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The regions of a world that are in it, sorted.
    pub fn regions(&self, world: &str) -> Vec<RegionPos> {
        let folder = format!("worlds/{world}/chunks/");
        let files = self.names.keys().filter_map(|name| name.strip_prefix(&folder));
        let mut regions: Vec<_> = files.filter_map(RegionPos::from_file_name).collect();
        regions.sort_unstable();
        regions
    }

    /// A region of a world, which is held in memory; `None` if it is not in the backup.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn region(&mut self, world: &str, region: RegionPos) -> Result<Option<RegionImage>> {
        let name = format!("worlds/{world}/chunks/{}", region.file_name());
        let Some(bytes) = self.read(&name, BACKUP_REGION_BYTES_MAX)? else { return Ok(None) };
        Ok(Some(RegionImage::open(region, bytes, self.path.join(name))?))
    }

    /// The document of a chunk; `None` if it is not in the backup.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn chunk(&mut self, world: &str, at: ChunkPos) -> Result<Option<Vec<u8>>> {
        match self.region(world, at.region())? {
            Some(region) => Ok(region.read(at)?),
            None => Ok(None),
        }
    }

    /// A JSON file by its path in the universe, such as `worlds/default/config.json`; `None` if
    /// it is not in the backup.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn document(&mut self, name: &str) -> Result<Option<Document>> {
        let Some(bytes) = self.read(name, JSON_BYTES_MAX)? else { return Ok(None) };
        let path = self.path.join(name);
        parse_text(&bytes).map(Some).map_err(|problem| Error::NotJson { path, problem })
    }

    fn read(&mut self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>> {
        let Some(place) = self.names.get(name) else { return Ok(None) };
        let entry = self.zip.by_index(*place).map_err(failed(&self.path, name))?;
        let mut bytes = Vec::new();
        let read = entry.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(Error::io(&self.path.join(name), "read"))?;
        if bytes.len() as u64 > bytes_max {
            let problem = format!("{name} has more than {bytes_max} bytes");
            return Err(Error::Backup { path: self.path.clone(), problem });
        }
        Ok(Some(bytes))
    }
}

fn failed(path: &Path, name: &str) -> impl FnOnce(zip::result::ZipError) -> Error {
    let (path, name) = (path.to_owned(), name.to_owned());
    move |error| Error::Backup { path, problem: format!("{name}: {error}") }
}

/// What a search through backups found.
#[derive(Debug, Default)]
pub struct BackupSearch {
    /// The newest backup that has the chunk, and its document.
    pub found: Option<(BackupFile, Vec<u8>)>,
    /// What could not be read on the way, in newer backups.
    pub problems: Vec<Error>,
}

/// Looks for a chunk in all backups, newest first. A backup that is damaged or lacks the chunk
/// does not end the search.
///
/// # Errors
/// The folder cannot be listed.
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
