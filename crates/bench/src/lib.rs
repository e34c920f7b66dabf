//! Benchmarks, stress test and demo: the implementation of `hyworld bench`, `hyworld stress`,
//! `hyworld demo` and `cargo bench`. Not published, and not covered by semver.
//!
//! Times are compared with zstd, or with region files, on the same bytes in the same run. Passes
//! alternate and the fastest one is reported, because other programs share the machine.
//!
//! Reports serialize to the JSON that `docs/cli.md` describes.

#![expect(missing_docs, reason = "the fields of reports are the keys of the JSON")]

pub mod change;
pub mod chunk;
pub mod demo;
pub mod map;
mod process;
pub mod providers;
pub mod query;
mod raw;
pub mod region;
pub mod scale;
mod scratch;
pub mod store;
pub mod stress;
mod timing;
pub mod verify;

pub use timing::{Micros, Millis};
