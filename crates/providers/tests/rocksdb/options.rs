//! Checks the options that `RocksDB` stores.

use std::collections::BTreeMap;
use std::path::Path;

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, RocksDbStorage};
use rocksdb::{BlockBasedOptions, DB, Options, properties};

use crate::{document, world};

type Section = BTreeMap<String, String>;

/// Parses the newest OPTIONS file by sections.
fn written(folder: &Path) -> BTreeMap<String, Section> {
    let names = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let newest = names.filter(|path| path.to_string_lossy().contains("/OPTIONS-")).max().unwrap();
    let mut sections: BTreeMap<String, Section> = BTreeMap::new();
    let mut current = String::new();
    for line in std::fs::read_to_string(newest).unwrap().lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            name.trim_end_matches(']').clone_into(&mut current);
        } else if let Some((key, value)) = line.split_once('=') {
            let section = sections.entry(current.clone()).or_default();
            section.insert(key.to_owned(), value.to_owned());
        }
    }
    sections
}

fn assert_options(section: &Section, expected: &[(&str, &str)]) {
    for (key, value) in expected {
        assert_eq!(section.get(*key).map(String::as_str), Some(*value), "{key}");
    }
}

/// Checks the table in `docs/format/rocksdb.md`.
#[test]
fn the_chunks_have_the_options_of_the_game() {
    let (_world, folder) = world();
    drop(RocksDbStorage::open(&folder).unwrap());
    assert_options_of_game(&folder);
    // A compaction changes some options temporarily.
    RocksDbStorage::open(&folder).unwrap().compact().unwrap();
    assert_options_of_game(&folder);
}

fn assert_options_of_game(folder: &Path) {
    let sections = written(folder);
    assert_options(
        &sections["CFOptions \"chunks\""],
        &[
            ("compression", "kLZ4Compression"),
            ("bottommost_compression", "kZSTD"),
            ("table_factory", "BlockBasedTable"),
            ("compaction_style", "kCompactionStyleLevel"),
            ("write_buffer_size", "33554432"),
            ("min_write_buffer_number_to_merge", "1"),
            ("max_write_buffer_number", "6"),
            ("level0_file_num_compaction_trigger", "2"),
            ("target_file_size_base", "16777216"),
            ("max_bytes_for_level_base", "134217728"),
            (
                "compression_per_level",
                "kNoCompression:kNoCompression:kLZ4Compression:kLZ4Compression:\
                 kLZ4Compression:kLZ4Compression:kLZ4Compression",
            ),
            ("level_compaction_dynamic_level_bytes", "true"),
            ("compaction_pri", "kMinOverlappingRatio"),
            ("prefix_extractor", "rocksdb.FixedPrefix.8"),
            ("enable_blob_files", "true"),
            ("enable_blob_garbage_collection", "true"),
            ("blob_compression_type", "kZSTD"),
            ("min_blob_size", "0"),
            ("blob_file_size", "268435456"),
            ("blob_garbage_collection_age_cutoff", "0.250000"),
            ("merge_operator", "nullptr"),
            ("comparator", "leveldb.BytewiseComparator"),
        ],
    );
    let table = &sections["TableOptions/BlockBasedTable \"chunks\""];
    let table_options = [
        ("index_type", "kHashSearch"),
        // The C interface does not store the bits per key: see the next test.
        ("filter_policy", "bloomfilter"),
        ("optimize_filters_for_memory", "true"),
        ("format_version", "5"),
    ];
    assert_options(table, &table_options);
    assert_options(
        &sections["CFOptions \"default\""],
        &[("enable_blob_files", "false"), ("prefix_extractor", "nullptr")],
    );
    let default_table = &sections["TableOptions/BlockBasedTable \"default\""];
    assert_options(default_table, &[("format_version", "5")]);
    let database = &sections["DBOptions"];
    let cores = std::thread::available_parallelism().unwrap().to_string();
    assert_options(database, &[("max_background_jobs", &cores), ("manual_wal_flush", "false")]);
}

#[test]
fn tables_have_a_filter_of_9_9_bits_per_key() {
    let (_world, folder) = world();
    let storage = RocksDbStorage::open(&folder).unwrap();
    for x in 0..20_000 {
        storage.write(ChunkPos::new(x, -x), b"").unwrap();
    }
    storage.compact().unwrap();
    drop(storage);
    let db = DB::open_cf_for_read_only(&Options::default(), &folder, ["chunks"], false).unwrap();
    let chunks = db.cf_handle("chunks").unwrap();
    let summary = db.property_value_cf(chunks, properties::AGGREGATED_TABLE_PROPERTIES);
    let summary = summary.unwrap().unwrap();
    let value = |name: &str| -> f64 {
        let (_, value) = summary.split_once(&format!(" {name}=")).unwrap();
        value.split(';').next().unwrap().parse().unwrap()
    };
    assert!((value("# entries") - 20_000.0).abs() < 0.5, "{summary}");
    let bits = value("filter block size") * 8.0 / value("# entries");
    assert!((9.7..10.1).contains(&bits), "{bits}");
}

/// A user of a newer format has a program that reads it, and old tables stay readable.
#[test]
fn a_newer_table_format_is_kept_and_an_older_one_is_upgraded() {
    for (before, after) in [(7, "7"), (6, "6"), (5, "5"), (4, "5")] {
        let (_world, folder) = world();
        let mut table = BlockBasedOptions::default();
        table.set_format_version(before);
        let mut options = Options::default();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        options.set_block_based_table_factory(&table);
        let at = ChunkPos::new(1, -1);
        let db = DB::open_cf_with_opts(&options, &folder, [("chunks", options.clone())]).unwrap();
        let key = [0, 0, 0, 1, 255, 255, 255, 255];
        db.put_cf(db.cf_handle("chunks").unwrap(), key, document(at)).unwrap();
        db.flush_cf(db.cf_handle("chunks").unwrap()).unwrap();
        drop(db);
        let storage = RocksDbStorage::open(&folder).unwrap();
        assert_eq!(storage.read(at).unwrap().unwrap(), document(at));
        let table = &written(&folder)["TableOptions/BlockBasedTable \"chunks\""];
        assert_eq!(table["format_version"], after);
    }
}
