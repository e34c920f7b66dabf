//! Work on whole worlds: options in, a report out. Nothing here prints.
//!
//! | function | what it does |
//! |---|---|
//! | [`convert()`] | copies every chunk from one storage to another, and proves it |
//! | [`compare`] | says in what two storages differ |
//! | [`count_contents`], [`region_totals`] | say how much there is |
//! | [`verify()`] | reads and decodes every chunk in full, and reports what is wrong |
//!
//! One bad chunk never ends the work: it is a [`Failure`] or a [`Finding`] in the report. All of
//! it is done on several threads and in constant memory, whatever the size of the world.

mod batches;
mod convert;
mod finding;
mod partial;
mod progress;
mod totals;
mod verify;

pub use convert::{
    CompareReport, ConvertOptions, ConvertReport, Difference, Failure, Stage, compare, convert,
};
pub use finding::{Class, Finding, Level};
pub use partial::{PartialError, PartialFolder};
pub use progress::{NoProgress, Progress};
pub use totals::{Contents, RegionTotals, count_contents, region_totals};
pub use verify::{VerifyReport, verify};
