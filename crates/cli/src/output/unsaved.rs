//! Reports chunks that could not be saved.

use hyworld_chunk_store::{FlushReport, UnsavedReason};

use crate::exit;

/// Prints one line for each chunk that could not be saved.
pub(crate) fn complain(report: &FlushReport) {
    const SHOWN: usize = 20;
    for chunk in report.unsaved.iter().take(SHOWN) {
        let why = reason(&chunk.reason);
        let at = chunk.at;
        exit::complain(&exit::problem(format!("chunk {},{}: not saved: {why}", at.x, at.z)));
    }
    if let Some(error) = &report.sync_error {
        let problem = format!("saved chunks may be lost in a power cut: {error}");
        exit::complain(&exit::failure(problem));
    }
}

/// Returns whether a chunk could not be written, for example because the disk is full.
pub(crate) fn has_failed(report: &FlushReport) -> bool {
    let failed = |reason: &UnsavedReason| matches!(reason, UnsavedReason::Failed(_));
    report.sync_error.is_some() || report.unsaved.iter().any(|chunk| failed(&chunk.reason))
}

/// Returns the reason a chunk was not saved.
pub(crate) fn reason(reason: &UnsavedReason) -> String {
    match reason {
        UnsavedReason::Failed(error) => error.to_string(),
        UnsavedReason::Cancelled => "a listener cancelled the save".to_owned(),
        UnsavedReason::Changed => "it was changed while it was saved".to_owned(),
        UnsavedReason::SavingIsOff => "IsSavingChunks is off in config.json".to_owned(),
    }
}
