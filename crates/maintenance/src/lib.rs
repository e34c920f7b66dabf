//! Operations on whole worlds. Each takes options and returns a report; none prints.
//!
//! | function | what it does |
//! |---|---|
//! | [`scan()`] | reads every chunk of a storage on several threads, with bounded memory |
//! | [`convert()`] | copies every chunk from one storage to another and verifies the copy |
//! | [`convert_to_folder`] | copies into a folder that gets its final name when it is complete |
//! | [`MigrateOptions`] | moves the chunks of a world to another provider |
//! | [`plan_upgrade`], [`upgrade_document`] | upgrade chunks of older games to the current format |
//! | [`compare`] | lists the differences between two storages |
//! | [`count_contents`], [`region_totals`] | count chunks, bytes and entities |
//! | [`fit_with_neighbours`], [`agreement`] | how well chunks fit together at their borders |
//! | [`Selection`], [`select()`] | choose chunks by position and contents |
//! | [`snapshot()`] | copies a world while a server writes it |
//! | [`find()`], [`stats()`] | find and count blocks, fluids, entities and items |
//! | [`diff()`] | what changed between two storages, down to blocks and items |
//! | [`find_orphans`] | finds removed chunks and older versions that are still in region files |
//! | [`verify()`], [`verify_region`] | read and decode everything and report findings |
//! | [`Manifest`], [`changed_regions`] | hashes of a world, to find silent changes later |
//!
//! A damaged chunk never stops an operation; it is a [`Finding`] in the report.

mod claims;
mod contents;
mod convert;
mod diff;
mod find;
mod finding;
mod manifest;
mod migrate;
mod partial;
mod progress;
mod region_slots;
mod repair;
mod scan;
mod seam;
mod select;
mod snapshot;
mod source;
mod stats;
mod totals;
mod touched;
mod undelete;
mod undo;
mod upgrade;
mod verify;

pub use claims::claimed_chunks;
pub use convert::{
    CompareReport, ConvertOptions, ConvertReport, FolderCopy, compare, convert, convert_to_folder,
};
pub use diff::{
    CellDiff, CellsDiff, Change, ChunkDiff, DiffOptions, DiffReport, HolderDiff, ItemDiff,
    Replaced, diff, diff_manifests,
};
pub use find::{Match, MatchKind, Wanted, find};
pub use finding::{Advice, Class, Finding, Findings, Severity};
pub use manifest::{
    ChunkRecord, FileRecord, Manifest, ManifestChanges, ManifestError, RegionRecord, ShortHash,
    changed_chunks, changed_regions,
};
pub use migrate::{MigrateOptions, MigrationReport, TargetContents};
pub use partial::{PartialError, PartialFolder};
pub use progress::{NoProgress, Progress};
pub use region_slots::RegionSlots;
pub use repair::{
    ChunkRepair, OlderVersion, RegionRepair, Remedy, RepairPlan, RepairReport, RepairSource,
    RepairTarget, apply_repair, plan_repair, region_file_repair,
};
pub use scan::{
    Completion, ScanOptions, Scanned, reuse_buffer, scan, scan_hashes, scan_items, scan_positions,
    scan_slots,
};
pub use seam::{
    Agreement, DETAIL_MIN, Edges, Fit, NEIGHBOUR_SCORE, SameWorld, Score, Side, agreement,
    common_positions, fit_with_neighbours,
};
pub use select::{
    ChunkSet, Cost, Glob, Landmark, NoContext, SelectContext, SelectError, Selection, Truth, select,
};
pub use snapshot::{
    SnapshotError, SnapshotOptions, SnapshotReport, check_snapshot_source, snapshot,
};
pub use source::SourceIdentity;
pub use stats::{ChunkStats, Counts, LayerStats, RegionStats, Stats, StatsOptions, stats};
pub use totals::{Contents, RegionTotals, count_contents, region_totals};
pub use touched::{Reason, Signal, TouchedRules, explain_touched, touched_score};
pub use undelete::{
    ChunkSummary, Confidence, Orphan, OrphanPosition, OrphanReport, OrphanSeal, PositionEvidence,
    find_orphans, find_orphans_in,
};
#[cfg(feature = "testing")]
pub use undo::die_after;
pub use undo::{
    BUNDLE_SUFFIX, Bundle, BundleDamage, BundleHeader, BundleStorage, BundleSummary, ChangedFiles,
    Changes, FileState, OpenStorage, RegionChange, RegionChanges, UndoError, UndoItem, UndoPlan,
    UndoReport, UndoRoot, bundle_path, now_ms, prepared_path,
};
pub use upgrade::{UpgradePlan, plan_upgrade, upgrade_document};
pub use verify::{
    Hashed, RegionReport, VerifyReport, check_chunk, has_errors, verify, verify_chunks,
    verify_region,
};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
