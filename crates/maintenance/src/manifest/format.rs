//! Reads and writes manifests line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use hyworld_coords::{ChunkPos, RegionPos};
use hyworld_files::{FileError, open_regular, rename, sync_parent, with_suffix};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{ChunkRecord, FileRecord, Manifest, ManifestError, RegionRecord, ShortHash};

/// The version of the format.
const VERSION: u64 = 1;

/// How a manifest begins.
const START: &[u8] = br#"{"type":"manifest","#;

/// The maximum length of a line in bytes. Lines of real worlds have up to 200.
const LINE_BYTES_MAX: usize = 64 << 10;

/// One line of a manifest.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Manifest {
        version: u64,
        world: String,
        written_ms: u64,
    },
    File {
        path: String,
        bytes: u64,
        hash: String,
    },
    Region {
        x: i32,
        z: i32,
        bytes: u64,
        modified_ns: u64,
        table: String,
    },
    Chunk {
        x: i32,
        z: i32,
        bytes: u64,
        hash: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stored: Option<String>,
    },
    End {
        files: usize,
        regions: usize,
        chunks: usize,
        sha256: std::borrow::Cow<'a, str>,
    },
}

impl Manifest {
    /// Writes the manifest over a file that may exist; the file is complete or unchanged.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn write(&self, path: &Path) -> Result<(), ManifestError> {
        let temporary = with_suffix(path, ".tmp");
        let file = File::create(&temporary).map_err(FileError::at(&temporary, "create"))?;
        let written = self.write_lines(BufWriter::new(&file)).and_then(|()| file.sync_all());
        written.map_err(FileError::at(&temporary, "write"))?;
        drop(file);
        rename(&temporary, path)?;
        Ok(sync_parent(path)?)
    }

    fn write_lines(&self, mut out: impl Write) -> io::Result<()> {
        let mut digest = Sha256::new();
        let mut put = |line: &Line<'_>| -> io::Result<()> {
            let mut text = serde_json::to_string(line)?;
            text.push('\n');
            digest.update(text.as_bytes());
            out.write_all(text.as_bytes())
        };
        let (world, written_ms) = (self.world.clone(), self.written_ms);
        put(&Line::Manifest { version: VERSION, world, written_ms })?;
        for (path, FileRecord { bytes, hash }) in &self.files {
            put(&Line::File { path: path.clone(), bytes: *bytes, hash: hash.to_string() })?;
        }
        for (RegionPos { x, z }, record) in &self.regions {
            let RegionRecord { bytes, modified_ns, table } = *record;
            put(&Line::Region { x: *x, z: *z, bytes, modified_ns, table: table.to_string() })?;
        }
        for (ChunkPos { x, z }, ChunkRecord { bytes, hash, stored }) in &self.chunks {
            let stored = stored.map(|stored| stored.to_string());
            put(&Line::Chunk { x: *x, z: *z, bytes: *bytes, hash: hash.to_string(), stored })?;
        }
        let end = Line::End {
            files: self.files.len(),
            regions: self.regions.len(),
            chunks: self.chunks.len(),
            sha256: hex(digest).into(),
        };
        writeln!(out, "{}", serde_json::to_string(&end)?)?;
        out.flush()
    }

    /// Returns whether a file begins like a manifest.
    pub fn is_at(path: &Path) -> bool {
        let mut start = vec![0; START.len()];
        let is_read = super::read_start(path, &mut start).is_ok();
        is_read && start == START
    }

    /// Reads a manifest and checks it.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, is damaged, or has a newer version.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        let file = open_regular(path).map_err(FileError::at(path, "open"))?;
        Self::parse(path, BufReader::new(file))
    }

    /// Reads a manifest from its bytes and checks it; `path` is for errors.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, is damaged, or has a newer version.
    pub fn parse(path: &Path, input: impl BufRead) -> Result<Self, ManifestError> {
        let mut lines = Lines { path, input, digest: Sha256::new(), number: 0 };
        let mut manifest = Self::default();
        match lines.next()? {
            Line::Manifest { version: VERSION, world, written_ms } => {
                (manifest.world, manifest.written_ms) = (world, written_ms);
            }
            Line::Manifest { version: found, .. } => {
                return Err(ManifestError::Newer { path: path.to_owned(), found });
            }
            _ => return Err(lines.damaged("its first line is not that of a manifest")),
        }
        loop {
            let before = lines.digest.clone();
            match lines.next()? {
                Line::End { files, regions, chunks, sha256 } => {
                    let counts =
                        [manifest.files.len(), manifest.regions.len(), manifest.chunks.len()];
                    let is_same = sha256 == hex(before) && counts == [files, regions, chunks];
                    return if is_same && lines.is_at_end() {
                        Ok(manifest)
                    } else {
                        Err(lines.damaged("the manifest was changed after it was written"))
                    };
                }
                line => manifest.add(line).ok_or_else(|| lines.damaged("an invalid line"))?,
            }
        }
    }

    fn add(&mut self, line: Line<'_>) -> Option<()> {
        match line {
            Line::File { path, bytes, hash } => {
                self.files.insert(path, FileRecord { bytes, hash: ShortHash::parse(&hash)? });
            }
            Line::Region { x, z, bytes, modified_ns, table } => {
                let table = ShortHash::parse(&table)?;
                let record = RegionRecord { bytes, modified_ns, table };
                self.regions.insert(RegionPos { x, z }, record);
            }
            Line::Chunk { x, z, bytes, hash, stored } => {
                let stored = match stored {
                    Some(stored) => Some(ShortHash::parse(&stored)?),
                    None => None,
                };
                let record = ChunkRecord { bytes, hash: ShortHash::parse(&hash)?, stored };
                self.chunks.insert(ChunkPos::new(x, z), record);
            }
            Line::Manifest { .. } | Line::End { .. } => return None,
        }
        Some(())
    }
}

/// The lines of a manifest that is being read.
struct Lines<'a, R> {
    path: &'a Path,
    input: R,
    /// The digest of all lines so far.
    digest: Sha256,
    number: usize,
}

impl<R: BufRead> Lines<'_, R> {
    fn next(&mut self) -> Result<Line<'static>, ManifestError> {
        let mut text = Vec::new();
        self.number = self.number.saturating_add(1);
        let mut limited = io::Read::take(&mut self.input, LINE_BYTES_MAX as u64);
        limited.read_until(b'\n', &mut text).map_err(FileError::at(self.path, "read"))?;
        if text.last() != Some(&b'\n') {
            return Err(self.damaged("it is cut off"));
        }
        self.digest.update(&text);
        serde_json::from_slice(&text).map_err(|_| self.damaged("it is not a line of a manifest"))
    }

    fn is_at_end(&mut self) -> bool {
        self.input.fill_buf().is_ok_and(<[u8]>::is_empty)
    }

    fn damaged(&self, problem: &'static str) -> ManifestError {
        ManifestError::Damaged { path: self.path.to_owned(), line: self.number, problem }
    }
}

fn hex(digest: Sha256) -> String {
    let digest: [u8; 32] = digest.finalize().into();
    let (high, low) = digest.split_at(16);
    let number = |bytes: &[u8]| bytes.iter().fold(0_u128, |sum, byte| sum << 8 | u128::from(*byte));
    format!("{:032x}{:032x}", number(high), number(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Manifest {
        let mut manifest = Manifest { world: "a".to_owned(), written_ms: 5, ..Manifest::default() };
        let hash = ShortHash::of(b"x");
        manifest.files.insert("config.json".to_owned(), FileRecord { bytes: 3, hash });
        let region = RegionRecord { bytes: 4128, modified_ns: 9, table: hash };
        manifest.regions.insert(RegionPos { x: -1, z: 2 }, region);
        for (x, stored) in [(3, None), (-4, Some(ShortHash::of(b"y")))] {
            manifest.chunks.insert(ChunkPos::new(x, 7), ChunkRecord { bytes: 8, hash, stored });
        }
        manifest
    }

    #[test]
    fn a_manifest_round_trips() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        sample().write(&path).unwrap();
        assert_eq!(Manifest::read(&path).unwrap(), sample());
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn every_change_of_a_manifest_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        sample().write(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for position in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[position] ^= 1;
            hyworld_testkit::write_file(&path, &changed);
            assert!(Manifest::read(&path).is_err(), "byte {position}");
            hyworld_testkit::write_file(&path, &bytes[..position]);
            assert!(Manifest::read(&path).is_err(), "{position} bytes");
        }
        hyworld_testkit::write_file(&path, &[&bytes[..], b"{}\n"].concat());
        assert!(Manifest::read(&path).is_err());
    }
}
