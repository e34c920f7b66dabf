//! [`ArchiveSink`]: tiles of one layer in a `PMTiles` archive.
//!
//! New tiles are collected in a file beside the archive. The archive is then written anew, with the
//! tiles of the old one that did not change.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, IntoInnerError, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hyworld_files::{FileError, rename, with_suffix};

use super::Sink;
use super::directory::{self, Entry, HEADER_BYTES, Header, ROOT_END};
use crate::error::MapError;
use crate::image::TileFormat;
use crate::pyramid::{TilePos, level_count};

/// The suffixes of the file that collects tiles, and of an archive that is not complete.
const TILES_SUFFIX: &str = ".hyworld-tiles";
const PARTIAL_SUFFIX: &str = ".hyworld-partial";

/// The maximum size of the directories of an old archive.
const DIRECTORY_BYTES_MAX: u64 = 256 << 20;

/// Where the bytes of a tile are.
#[derive(Clone, Copy, Debug)]
struct Span {
    is_old: bool,
    offset: u64,
    length: u64,
}

#[derive(Debug)]
struct Tiles {
    old: Option<File>,
    new: File,
    new_bytes: u64,
    spans: BTreeMap<TilePos, Span>,
    is_changed: bool,
}

/// Tiles of one layer that become a `PMTiles` archive.
#[derive(Debug)]
pub struct ArchiveSink {
    path: PathBuf,
    format: TileFormat,
    tiles: Mutex<Tiles>,
}

impl ArchiveSink {
    /// Opens an archive, which need not exist. An archive that this type cannot read is treated as
    /// missing.
    ///
    /// # Errors
    /// Returns an error if no file can be created beside it.
    pub fn open(path: &Path, format: TileFormat) -> Result<Self, MapError> {
        Self::with_old(path, format, read_old(path, format))
    }

    /// Starts an archive without tiles. It replaces an existing one when it is finished.
    ///
    /// # Errors
    /// Returns an error if no file can be created beside it.
    pub fn create(path: &Path, format: TileFormat) -> Result<Self, MapError> {
        Self::with_old(path, format, None)
    }

    fn with_old(
        path: &Path,
        format: TileFormat,
        old: Option<(File, BTreeMap<TilePos, Span>)>,
    ) -> Result<Self, MapError> {
        let collected = with_suffix(path, TILES_SUFFIX);
        let options = File::options().read(true).write(true).create(true).truncate(true).clone();
        let new = options.open(&collected).map_err(FileError::at(&collected, "create"))?;
        let (old, spans) = old.map_or((None, BTreeMap::new()), |(file, spans)| (Some(file), spans));
        let tiles = Tiles { old, new, new_bytes: 0, spans, is_changed: false };
        Ok(Self { path: path.to_owned(), format, tiles: Mutex::new(tiles) })
    }

    /// Writes the archive, unless nothing changed. `metadata` is a JSON object.
    ///
    /// # Errors
    /// Returns an error if it cannot be written, or a tile is too far from the origin.
    pub fn finish(self, metadata: &str) -> Result<(), MapError> {
        let tiles = self.tiles.into_inner().unwrap_or_else(PoisonError::into_inner);
        let is_written = tiles.is_changed || tiles.old.is_none();
        if is_written {
            let partial = with_suffix(&self.path, PARTIAL_SUFFIX);
            write_archive(tiles, &partial, self.format, metadata)?;
            rename(&partial, &self.path)?;
        }
        let collected = with_suffix(&self.path, TILES_SUFFIX);
        fs::remove_file(&collected).map_err(FileError::at(&collected, "remove"))?;
        Ok(())
    }

    fn with<T>(&self, act: impl FnOnce(&mut Tiles) -> T) -> T {
        act(&mut self.tiles.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The layer is not stored: an archive has only one.
impl Sink for ArchiveSink {
    fn has(&self, _layer: &str, at: TilePos, bytes: u64) -> bool {
        self.with(|tiles| tiles.spans.get(&at).is_some_and(|span| span.length == bytes))
    }

    fn read(&self, _layer: &str, at: TilePos) -> Result<Option<Vec<u8>>, MapError> {
        self.with(|tiles| {
            let Some(span) = tiles.spans.get(&at).copied() else { return Ok(None) };
            tiles.read(span).map(Some)
        })
    }

    fn write(&self, _layer: &str, at: TilePos, bytes: &[u8]) -> Result<(), MapError> {
        self.with(|tiles| {
            tiles.new.seek(SeekFrom::Start(tiles.new_bytes))?;
            tiles.new.write_all(bytes)?;
            let span = Span { is_old: false, offset: tiles.new_bytes, length: bytes.len() as u64 };
            tiles.new_bytes = tiles.new_bytes.saturating_add(span.length);
            tiles.spans.insert(at, span);
            tiles.is_changed = true;
            Ok(())
        })
    }

    fn remove(&self, _layer: &str, at: TilePos) -> Result<(), MapError> {
        self.with(|tiles| tiles.is_changed |= tiles.spans.remove(&at).is_some());
        Ok(())
    }
}

impl Tiles {
    fn read(&mut self, span: Span) -> Result<Vec<u8>, MapError> {
        let file = if span.is_old { self.old.as_mut() } else { Some(&mut self.new) };
        let file = file.ok_or_else(|| MapError::WrongTile("the archive is missing".to_owned()))?;
        Ok(read_span(file, span.offset, span.length)?)
    }
}

/// Reads bytes of a file. Allocates only what the file has.
fn read_span(file: &mut File, offset: u64, length: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    Read::take(file, length).read_to_end(&mut bytes)?;
    let is_short = (bytes.len() as u64) < length;
    if is_short { Err(std::io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
}

fn tile_type(format: TileFormat) -> u8 {
    match format {
        TileFormat::Png => 2,
        TileFormat::Webp => 4,
    }
}

fn write_archive(
    mut tiles: Tiles,
    path: &Path,
    format: TileFormat,
    metadata: &str,
) -> Result<(), MapError> {
    let levels = level_count(tiles.spans.keys().filter(|at| at.level == 0).copied());
    let mut listed: Vec<(u64, Span)> = Vec::with_capacity(tiles.spans.len());
    for (at, span) in &tiles.spans {
        let id = id_of(*at, levels).ok_or(MapError::TooFarForArchive { x: at.x, z: at.z })?;
        listed.push((id, *span));
    }
    listed.sort_unstable_by_key(|(id, _)| *id);
    let mut offset = 0_u64;
    let entries: Vec<Entry> = listed
        .iter()
        .map(|(id, span)| {
            let entry = Entry { id: *id, offset, length: span.length, run: 1 };
            offset = offset.saturating_add(span.length);
            entry
        })
        .collect();
    let (root, leaves) = directory::encode_directories(&entries);
    let after = |part: (u64, u64)| part.0.saturating_add(part.1);
    let root_part = (HEADER_BYTES as u64, root.len() as u64);
    let metadata_part = (after(root_part), metadata.len() as u64);
    let leaves_part = (after(metadata_part), leaves.len() as u64);
    let header = Header {
        root: root_part,
        metadata: metadata_part,
        leaves: leaves_part,
        data: (after(leaves_part), offset),
        tiles: entries.len() as u64,
        tile_type: tile_type(format),
        zooms: (1, levels),
    };
    let file = File::create(path).map_err(FileError::at(path, "create"))?;
    let mut out = BufWriter::new(file);
    for part in [&header.encode(), &root, metadata.as_bytes(), &leaves] {
        out.write_all(part)?;
    }
    for (_, span) in &listed {
        out.write_all(&tiles.read(*span)?)?;
    }
    out.into_inner().map_err(IntoInnerError::into_error)?.sync_all()?;
    Ok(())
}

/// Returns the id of a tile in an archive with some levels: level 0 has the greatest zoom, and the
/// origin of the world is in the middle.
fn id_of(at: TilePos, levels: u8) -> Option<u64> {
    let zoom = u32::from(levels.checked_sub(at.level)?);
    let middle = 1_i64.checked_shl(zoom.checked_sub(1)?)?;
    let shifted = |value: i32| u32::try_from(i64::from(value).checked_add(middle)?).ok();
    directory::tile_id(zoom, shifted(at.x)?, shifted(at.z)?)
}

fn position_of(id: u64, levels: u8) -> Option<TilePos> {
    let (zoom, x, y) = directory::tile_of(id)?;
    let level = u32::from(levels).checked_sub(zoom)?;
    let middle = 1_i64.checked_shl(zoom.checked_sub(1)?)?;
    let shifted = |value: u32| i32::try_from(i64::from(value).checked_sub(middle)?).ok();
    Some(TilePos::new(u8::try_from(level).ok()?, shifted(x)?, shifted(y)?))
}

/// Opens an archive that this type wrote, and lists its tiles. Returns `None` if there is none.
fn read_old(path: &Path, format: TileFormat) -> Option<(File, BTreeMap<TilePos, Span>)> {
    let mut file = File::open(path).ok()?;
    let header = Header::decode(&read_span(&mut file, 0, HEADER_BYTES as u64).ok()?)?;
    let is_small = header.leaves.1 <= DIRECTORY_BYTES_MAX && header.root.1 <= ROOT_END as u64;
    if header.tile_type != tile_type(format) || !is_small {
        return None;
    }
    let root = directory::decode(&read_span(&mut file, header.root.0, header.root.1).ok()?)?;
    let leaves = read_span(&mut file, header.leaves.0, header.leaves.1).ok()?;
    let mut spans = BTreeMap::new();
    for entry in root {
        let listed = if entry.run > 0 {
            vec![entry]
        } else {
            let start = usize::try_from(entry.offset).ok()?;
            let end = start.checked_add(usize::try_from(entry.length).ok()?)?;
            directory::decode(leaves.get(start..end)?)?
        };
        for tile in listed {
            let at = position_of(tile.id, header.zooms.1)?;
            let offset = header.data.0.checked_add(tile.offset)?;
            spans.insert(at, Span { is_old: true, offset, length: tile.length });
        }
    }
    Some((file, spans))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(sink: &ArchiveSink) -> Vec<TilePos> {
        sink.with(|tiles| tiles.spans.keys().copied().collect())
    }

    #[test]
    fn archives_keep_tiles_that_do_not_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("map.pmtiles");
        let positions = [(0, 0, 0), (0, -1, 5), (0, -9, -3), (1, -1, 2), (2, 0, 0), (3, -1, -1)];
        let positions = positions.map(|(level, x, z)| TilePos::new(level, x, z));
        let sink = ArchiveSink::open(&path, TileFormat::Webp).unwrap();
        for (number, at) in positions.iter().enumerate() {
            sink.write("", *at, format!("tile {number}").as_bytes()).unwrap();
        }
        sink.finish("{}").unwrap();
        let first = fs::read(&path).unwrap();
        let sink = ArchiveSink::open(&path, TileFormat::Webp).unwrap();
        assert_eq!(listed(&sink).len(), positions.len());
        for (number, at) in positions.iter().enumerate() {
            let text = format!("tile {number}").into_bytes();
            assert!(sink.has("", *at, text.len() as u64));
            assert_eq!(sink.read("", *at).unwrap(), Some(text));
        }
        sink.finish("{}").unwrap();
        assert_eq!(fs::read(&path).unwrap(), first);
        let sink = ArchiveSink::open(&path, TileFormat::Webp).unwrap();
        sink.remove("", positions[2]).unwrap();
        sink.write("", positions[0], b"other").unwrap();
        sink.finish("{}").unwrap();
        let sink = ArchiveSink::open(&path, TileFormat::Webp).unwrap();
        assert_eq!(sink.read("", positions[0]).unwrap().unwrap(), b"other");
        assert_eq!(sink.read("", positions[1]).unwrap().unwrap(), b"tile 1");
        assert_eq!(sink.read("", positions[2]).unwrap(), None);
        drop(sink);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn other_files_and_damaged_archives_count_as_missing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("map.pmtiles");
        hyworld_testkit::write_file(&path, b"not an archive");
        let sink = ArchiveSink::open(&path, TileFormat::Webp).unwrap();
        assert!(listed(&sink).is_empty());
        sink.write("", TilePos::new(0, 0, 0), b"tile").unwrap();
        sink.finish("{}").unwrap();
        let bytes = fs::read(&path).unwrap();
        for end in 0..bytes.len() {
            hyworld_testkit::write_file(&path, &bytes[..end]);
            let sink = ArchiveSink::open(&path, TileFormat::Webp).unwrap();
            let at = TilePos::new(0, 0, 0);
            assert!(listed(&sink).is_empty() || sink.read("", at).is_err());
        }
        hyworld_testkit::write_file(&path, &bytes);
        assert!(listed(&ArchiveSink::open(&path, TileFormat::Png).unwrap()).is_empty());
    }
}
