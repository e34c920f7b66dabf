//! All size limits of this crate, each with its reason.

/// Maximum size of a JSON file in bytes. The largest real one, a map's trigger volumes, has less
/// than 1 MB. A configuration is in memory up to five times.
pub const JSON_BYTES_MAX: u64 = 32 << 20;

/// Maximum size in bytes of a region file in a backup, which is unpacked into a temporary
/// file if it is large. Real ones have up to 60 MB.
pub const BACKUP_REGION_BYTES_MAX: u64 = 1 << 30;

/// Maximum number of files in a backup. A world of 10,000 regions is 10 million chunks.
pub const BACKUP_ENTRIES_MAX: usize = 1 << 20;

/// Maximum length of a world name in bytes, all levels together. File systems allow 255 per level.
pub const WORLD_NAME_BYTES_MAX: usize = 200;

/// Maximum folder depth when a world is copied.
pub const FOLDER_DEPTH_MAX: u32 = 32;
