//! Storages around a storage.

mod counting;
mod dry_run;
mod read_only;

pub use counting::{CountingStorage, Counts};
pub use dry_run::DryRunStorage;
pub use read_only::ReadOnlyStorage;
