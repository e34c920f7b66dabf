//! Files under `fixtures/`, their manifest, and the real worlds in `../shared`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// Returns the bytes of a file under `fixtures/`.
///
/// # Panics
/// Panics if it cannot be read.
pub fn fixture(name: &str) -> Vec<u8> {
    let path = fixtures().join(name);
    match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => fail(&format!("{}: {error}", path.display())),
    }
}

/// Returns a path in the folder `../shared`, which has real worlds. If it does not exist, prints
/// that the test is skipped; the test must then return.
pub fn shared(what: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(what);
    if path.exists() {
        return Some(path);
    }
    let mut out = std::io::stderr();
    let message =
        format!("SKIPPED: {} does not exist, so real data is not tested\n", path.display());
    out.write_all(message.as_bytes()).ok()?;
    None
}

/// The real worlds under `shared/worlds`.
pub const WORLDS: [&str; 5] =
    ["explored-2026-01", "ocean-2026-01", "flat-2026-02", "spaceship-2026-02", "adventure-2026-06"];

/// The two worlds of `converted-2026-04`, with chunks written by another program.
pub const CONVERTED_WORLDS: [&str; 2] =
    ["converted-2026-04/universe/worlds/default", "converted-2026-04/universe/worlds/map2"];

/// Returns all region files of one of [`WORLDS`] or [`CONVERTED_WORLDS`], at any depth; `None` if
/// the worlds are not available.
///
/// # Panics
/// Panics if a folder cannot be read, or if there are no region files.
pub fn region_files(world: &str) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![shared(&format!("worlds/{world}"))?];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = folder.read_dir() else { fail(&format!("{}", folder.display())) };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(".region.bin") {
                found.push(path);
            }
        }
    }
    if found.is_empty() {
        fail(&format!("{world} has no region files"));
    }
    Some(found)
}

/// Creates or replaces a file.
///
/// # Panics
/// Panics if that fails.
pub fn write_file(path: &Path, bytes: &[u8]) {
    let written = File::create(path).and_then(|mut file| file.write_all(bytes));
    if let Err(error) = written {
        fail(&format!("{}: {error}", path.display()));
    }
}

/// Returns a SHA-256 as hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        hex.extend([byte >> 4, byte & 15].map(|n| char::from_digit(n.into(), 16).unwrap_or('?')));
        hex
    })
}

/// The expected length and hash of a blob's document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expected {
    /// Length.
    pub len: usize,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

impl Expected {
    /// Returns the length and hash of a document.
    pub fn of(document: &[u8]) -> Self {
        Self { len: document.len(), sha256: sha256(document) }
    }
}

/// One entry of `fixtures/original/manifest.json`.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// Path under `fixtures/original`.
    pub file: String,
    /// Number of slots.
    pub blob_count: u32,
    /// Size of segments.
    pub segment_size: u32,
    /// SHA-256 of the file.
    pub sha256: String,
    /// The blobs of the file, if the manifest lists them.
    pub blobs: Option<BTreeMap<u32, Expected>>,
    /// The blobs that the game reads from it; `None` if it rejects the file or was not tested.
    /// Slots that it fails to read are left out.
    pub original: Option<BTreeMap<u32, Expected>>,
}

/// Returns the fixtures whose path starts with `prefix`.
///
/// # Panics
/// Panics if the manifest cannot be read or no fixture matches.
pub fn manifest(prefix: &str) -> Vec<Fixture> {
    let parsed: Result<Value, _> = serde_json::from_slice(&fixture("original/manifest.json"));
    let Ok(manifest) = parsed else { fail("cannot parse manifest.json") };
    let all = manifest.get("fixtures").and_then(Value::as_array).cloned().unwrap_or_default();
    let found: Vec<Fixture> =
        all.iter().filter_map(entry).filter(|entry| entry.file.starts_with(prefix)).collect();
    if found.is_empty() {
        fail(&format!("no fixture starts with {prefix}"));
    }
    found
}

fn entry(value: &Value) -> Option<Fixture> {
    let number = |key: &str| value.get(key)?.as_u64().and_then(|n| u32::try_from(n).ok());
    let text = |key: &str| value.get(key)?.as_str().map(str::to_owned);
    Some(Fixture {
        file: text("file")?,
        blob_count: number("blob_count")?,
        segment_size: number("segment_size")?,
        sha256: text("sha256")?,
        blobs: value.get("blobs").map(blobs),
        original: value.get("original").and_then(|seen| seen.get("reads")).map(blobs),
    })
}

fn blobs(value: &Value) -> BTreeMap<u32, Expected> {
    let entries = value.as_object().into_iter().flatten();
    entries
        .filter_map(|(slot, blob)| {
            let len = usize::try_from(blob.get("len")?.as_u64()?).ok()?;
            let sha256 = blob.get("sha256")?.as_str()?.to_owned();
            Some((slot.parse().ok()?, Expected { len, sha256 }))
        })
        .collect()
}

#[expect(clippy::panic, reason = "only tests use this crate, and they fail by panicking")]
pub(crate) fn fail(message: &str) -> ! {
    panic!("{message}")
}
