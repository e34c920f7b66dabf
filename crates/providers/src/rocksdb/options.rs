//! The options of the game's database, see `docs/format/rocksdb.md`.

use ::rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, ColumnFamilyDescriptor, CompactionPri,
    DBCompactionStyle, DBCompressionType, DEFAULT_COLUMN_FAMILY_NAME, Options, ReadOptions,
    SliceTransform,
};

use super::CHUNKS_FAMILY;
use super::key::KEY_BYTES;

/// The table format of a new database. `RocksDB` has newer formats, but the game's `RocksDB`
/// version is unknown, and older versions reject formats they do not know.
pub(super) const TABLE_FORMAT_VERSION: i32 = 5;

const BLOOM_BITS_PER_KEY: f64 = 9.9;

/// The option for the share of blob files, oldest first, whose documents a compaction moves to new
/// files.
pub(super) const BLOB_REWRITE_SHARE: &str = "blob_garbage_collection_age_cutoff";

/// The value of that option in the game, which is the default of `RocksDB`.
pub(super) const BLOB_REWRITE_SHARE_OF_GAME: &str = "0.25";

/// Memory for chunks that are not yet in tables. Other options are derived from it.
const MEMTABLE_BYTES: usize = 128 << 20;

/// Maximum number of open files. Without a limit all files of the database stay open, and most
/// systems allow a process 1,024.
const OPEN_FILES_MAX: i32 = 512;

pub(super) fn reading() -> Options {
    let mut options = Options::default();
    options.set_max_open_files(OPEN_FILES_MAX);
    options
}

pub(super) fn writing() -> Options {
    let mut options = reading();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    options.increase_parallelism(i32::try_from(cores).unwrap_or(i32::MAX));
    options
}

/// Returns both column families with their options.
pub(super) fn families(table_format_version: i32) -> [ColumnFamilyDescriptor; 2] {
    [
        ColumnFamilyDescriptor::new(DEFAULT_COLUMN_FAMILY_NAME, default(table_format_version)),
        ColumnFamilyDescriptor::new(CHUNKS_FAMILY, chunks(table_format_version)),
    ]
}

/// Options of the chunks for a database that is written once and read afterwards.
///
/// With the game's options, the cost of a chunk grew with the number of chunks (`docs/scale.md`).
/// The likely reason: every second memtable starts a compaction of all keys, which moves the
/// documents of the oldest quarter of the files. A new database has no garbage to collect.
pub(super) const BUILDING: [(&str, &str); 4] = [
    ("enable_blob_garbage_collection", "false"),
    ("level0_file_num_compaction_trigger", "64"),
    ("level0_slowdown_writes_trigger", "128"),
    ("level0_stop_writes_trigger", "192"),
];

/// Restores the options changed by [`BUILDING`] to those of [`chunks`].
pub(super) const BUILT: [(&str, &str); 4] = [
    ("enable_blob_garbage_collection", "true"),
    ("level0_file_num_compaction_trigger", "2"),
    ("level0_slowdown_writes_trigger", "20"),
    ("level0_stop_writes_trigger", "36"),
];

/// Returns the options of the default family, which is always empty.
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
    // The call above set it to 2, with which a manual flush or compaction waits forever (seen with
    // RocksDB 9.8.4). The value is not stored in data files.
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

/// Returns the options for iterating over many keys.
pub(super) fn listing() -> ReadOptions {
    let mut options = ReadOptions::default();
    // The configured prefix is the whole key, so a search that begins at a missing key would find
    // nothing without this.
    options.set_total_order_seek(true);
    // Documents that are read once must not evict frequently used ones.
    options.fill_cache(false);
    options
}
