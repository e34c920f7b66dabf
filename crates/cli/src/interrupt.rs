//! Ctrl-C, for verbs that have something to finish first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use crate::exit::Exit;

/// From now on Ctrl-C, and a request to terminate, set this instead of ending the program. The
/// second time ends it all the same: somebody is in a hurry.
pub(crate) fn catch() -> anyhow::Result<Arc<AtomicBool>> {
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_interrupted);
    let note = move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(Exit::Failure.code().into());
        }
    };
    ctrlc::set_handler(note).context("Ctrl-C cannot be caught")?;
    Ok(is_interrupted)
}
