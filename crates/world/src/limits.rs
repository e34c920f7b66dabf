//! Every maximum in one place, each with its reason.

/// Bytes of a JSON file. The largest real one, a map's trigger volumes, has under 1 MB.
pub const JSON_BYTES_MAX: u64 = 256 << 20;

/// Bytes of a region file that is read out of a backup, where it has to be held in memory. Real
/// ones have up to 60 MB.
pub const BACKUP_REGION_BYTES_MAX: u64 = 1 << 30;

/// Files in one backup. A world of 10,000 regions is 10 million chunks.
pub const BACKUP_ENTRIES_MAX: usize = 1 << 20;

/// Bytes of the name of a world, all levels together. File systems allow 255 a level.
pub const WORLD_NAME_BYTES_MAX: usize = 200;

/// How deep folders of a world may be nested when it is copied.
pub const FOLDER_DEPTH_MAX: u32 = 32;
