//! The options of the game's database, as in `docs/format/rocksdb.md`.

use ::rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, ColumnFamilyDescriptor, CompactionPri,
    DBCompactionStyle, DBCompressionType, DEFAULT_COLUMN_FAMILY_NAME, Options, ReadOptions,
    SliceTransform,
};

use super::CHUNKS_FAMILY;
use super::key::KEY_BYTES;

/// The format of tables in a new database. `RocksDB` has newer ones, but the game's version of it
/// is not known, and older versions refuse formats that they do not know.
pub(super) const TABLE_FORMAT_VERSION: i32 = 5;

const BLOOM_BITS_PER_KEY: f64 = 9.9;

/// The option that says from which part of the files with documents, the oldest first, a compaction
/// moves documents to new ones.
pub(super) const BLOB_REWRITE_SHARE: &str = "blob_garbage_collection_age_cutoff";

/// What that is in the game, where it is as `RocksDB` has it.
pub(super) const BLOB_REWRITE_SHARE_OF_GAME: &str = "0.25";

/// How much memory the chunks may take that are not yet in tables. Other options follow from it.
const MEMTABLE_BYTES: usize = 128 << 20;

/// Files that a database has open at once. Without a limit it has all of them open, and a process
/// may have 1,024 on most systems.
const OPEN_FILES_MAX: i32 = 512;

/// Options of the whole database, to read it.
pub(super) fn reading() -> Options {
    let mut options = Options::default();
    options.set_max_open_files(OPEN_FILES_MAX);
    options
}

/// Options of the whole database, to write to it.
pub(super) fn writing() -> Options {
    let mut options = reading();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    options.increase_parallelism(i32::try_from(cores).unwrap_or(i32::MAX));
    options
}

/// Both column families.
pub(super) fn families(table_format_version: i32) -> [ColumnFamilyDescriptor; 2] {
    [
        ColumnFamilyDescriptor::new(DEFAULT_COLUMN_FAMILY_NAME, default(table_format_version)),
        ColumnFamilyDescriptor::new(CHUNKS_FAMILY, chunks(table_format_version)),
    ]
}

/// Changes the options of the chunks for a database that is written once and read afterwards.
///
/// With the game's options every second memtable starts a compaction of all keys, and each of
/// those moves the documents of the oldest quarter of the files: the cost of a chunk grows with
/// the number of chunks. In a new database there is no garbage to collect.
pub(super) const BUILDING: [(&str, &str); 4] = [
    ("enable_blob_garbage_collection", "false"),
    ("level0_file_num_compaction_trigger", "64"),
    ("level0_slowdown_writes_trigger", "128"),
    ("level0_stop_writes_trigger", "192"),
];

/// The way back from [`BUILDING`], to what [`chunks`] has.
pub(super) const BUILT: [(&str, &str); 4] = [
    ("enable_blob_garbage_collection", "true"),
    ("level0_file_num_compaction_trigger", "2"),
    ("level0_slowdown_writes_trigger", "20"),
    ("level0_stop_writes_trigger", "36"),
];

/// The family that every database has. Nothing is in it.
fn default(table_format_version: i32) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_format_version(table_format_version);
    let mut options = Options::default();
    options.set_block_based_table_factory(&table);
    options
}

fn chunks(table_format_version: i32) -> Options {
    let mut options = Options::default();
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_bottommost_compression_type(DBCompressionType::Zstd);
    options.set_block_based_table_factory(&table(table_format_version));
    options.set_compaction_style(DBCompactionStyle::Level);
    options.optimize_level_style_compaction(MEMTABLE_BYTES);
    // That made it 2, with which a flush or a compaction by hand waits for ever (seen with RocksDB
    // 9.8.4). It has no trace in the files.
    options.set_min_write_buffer_number_to_merge(1);
    options.set_level_compaction_dynamic_level_bytes(true);
    options.set_compaction_pri(CompactionPri::MinOverlappingRatio);
    options.set_prefix_extractor(SliceTransform::create_fixed_prefix(KEY_BYTES));
    options.set_enable_blob_files(true);
    options.set_enable_blob_gc(true);
    options.set_blob_compression_type(DBCompressionType::Zstd);
    options.set_min_blob_size(0);
    options
}

fn table(format_version: i32) -> BlockBasedOptions {
    let mut table = BlockBasedOptions::default();
    table.set_index_type(BlockBasedIndexType::HashSearch);
    table.set_bloom_filter(BLOOM_BITS_PER_KEY, false);
    table.set_optimize_filters_for_memory(true);
    table.set_format_version(format_version);
    table
}

/// For going through many keys in order.
pub(super) fn listing() -> ReadOptions {
    let mut options = ReadOptions::default();
    // The prefix is the whole key: without this, a seek to a key that is absent finds nothing.
    options.set_total_order_seek(true);
    // What is used once must not push out what is used often.
    options.fill_cache(false);
    options
}
