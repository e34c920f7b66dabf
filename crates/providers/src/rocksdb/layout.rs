//! Detects databases with an unsupported layout.
//!
//! Newer versions of the game use an unknown layout with other column families, or other keys among
//! the chunks. Writing to such a database could destroy data.

use ::rocksdb::{ColumnFamily, DB, DEFAULT_COLUMN_FAMILY_NAME, ReadTier, properties};

use super::key::KEY_BYTES;
use super::{CHUNKS_FAMILY, options};

/// Bytes that `RocksDB` adds to each key in a table: a sequence number and a type.
const KEY_TRAILER_BYTES: u64 = 8;

/// Describes the unknown column families, if any.
pub(super) fn unknown_families(families: &[String]) -> Option<String> {
    let known = [DEFAULT_COLUMN_FAMILY_NAME, CHUNKS_FAMILY];
    let unknown = families.iter().filter(|name| !known.contains(&name.as_str()));
    let mut unknown: Vec<_> = unknown.map(|name| format!("{name:?}")).collect();
    unknown.sort_unstable();
    let s = if unknown.len() == 1 { "y" } else { "ies" };
    (!unknown.is_empty()).then(|| format!("the column famil{s} {}", unknown.join(", ")))
}

/// Describes unknown keys in the known column families, if any.
///
/// The time grows with the number of tables and with the data that is not yet in tables, but not
/// with the number of chunks.
pub(super) fn unknown_keys(db: &DB) -> Option<String> {
    let mut unfit = db.raw_iterator_opt(options::listing());
    unfit.seek_to_first();
    if unfit.valid() {
        return Some(format!("keys in the column family {DEFAULT_COLUMN_FAMILY_NAME:?}"));
    }
    let chunks = db.cf_handle(CHUNKS_FAMILY)?;
    let found = has_unfit_keys_in_tables(db, chunks) || has_unfit_keys_in_memory(db, chunks);
    found.then(|| {
        format!("keys in the column family {CHUNKS_FAMILY:?} that are not {KEY_BYTES} bytes long")
    })
}

/// Compares the total key length that tables store with the number of their keys.
fn has_unfit_keys_in_tables(db: &DB, chunks: &ColumnFamily) -> bool {
    let summary = db.property_value_cf(chunks, properties::AGGREGATED_TABLE_PROPERTIES);
    let Ok(Some(summary)) = summary else { return false };
    let number = |name: &str| -> Option<u64> {
        let mut values = summary.split(';').filter_map(|part| part.trim().split_once('='));
        values.find(|(found, _)| *found == name)?.1.trim().parse().ok()
    };
    let (Some(keys), Some(bytes)) = (number("# entries"), number("raw key size")) else {
        return false;
    };
    let key_bytes = KEY_TRAILER_BYTES.saturating_add(KEY_BYTES as u64);
    bytes != keys.saturating_mul(key_bytes)
}

/// Checks the keys that are only in the log. They are in memory once the database is open.
fn has_unfit_keys_in_memory(db: &DB, chunks: &ColumnFamily) -> bool {
    let mut options = options::listing();
    options.set_read_tier(ReadTier::Memtable);
    let mut keys = db.raw_iterator_cf_opt(chunks, options);
    keys.seek_to_first();
    while let Some(key) = keys.key() {
        if key.len() != KEY_BYTES {
            return true;
        }
        keys.next();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_column_families_are_listed() {
        let unknown = |names: &[&str]| {
            unknown_families(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(unknown(&["default"]), None);
        assert_eq!(unknown(&["chunks", "default"]), None);
        assert_eq!(unknown(&["chunks", "x"]).unwrap(), "the column family \"x\"");
        assert_eq!(unknown(&["b", "a"]).unwrap(), "the column families \"a\", \"b\"");
    }
}
