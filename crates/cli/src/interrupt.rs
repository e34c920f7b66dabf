//! Ctrl-C handling for verbs that save their work before they end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use crate::exit::Exit;

/// Returns a flag that the first Ctrl-C or termination request sets instead of ending the program.
/// The second one ends it.
pub(crate) fn catch() -> anyhow::Result<Arc<AtomicBool>> {
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_interrupted);
    let note = move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(Exit::Failure.code().into());
        }
    };
    ctrlc::set_handler(note).context("cannot install the Ctrl-C handler")?;
    Ok(is_interrupted)
}
