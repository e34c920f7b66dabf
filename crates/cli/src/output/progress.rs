//! Progress reporting for long operations: a bar or spinner on a terminal, otherwise nothing.

use std::fmt;
use std::io::{self, IsTerminal};
use std::time::Duration;

use hyworld_maintenance::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::Console;

/// The interval between spinner frames.
const TICK: Duration = Duration::from_millis(100);

/// Returns a bar for `count` slots.
pub(crate) fn bar(console: &Console, what: &'static str, count: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(count as u64), target(console));
    set_style(&bar, "{msg} {wide_bar} {human_pos}/{human_len} slots, {rate}, {eta} left");
    shown(bar, what)
}

/// Returns a bar for chunks, or a counter if their number is unknown.
pub(crate) fn chunks(console: &Console, what: &'static str, count: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(count, target(console));
    set_style(&bar, chunk_style(count));
    shown(bar, what)
}

fn chunk_style(count: Option<u64>) -> &'static str {
    match count {
        Some(_) => "{msg} {wide_bar} {human_pos}/{human_len} chunks, {rate}, {eta} left",
        None => "{spinner} {msg}: {human_pos} chunks, {rate}, {elapsed}",
    }
}

fn set_style(bar: &ProgressBar, style: &str) {
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style.with_key("rate", rate).progress_chars("=> ").tick_chars("|/-\\ "));
    }
}

/// Shows the progress of copying chunks, then of verifying them. Cleared on drop.
pub(crate) struct ChunkProgress(ProgressBar);

impl ChunkProgress {
    pub(crate) fn new(console: &Console, what: &'static str, count: Option<u64>) -> Self {
        Self(chunks(console, what, count))
    }
}

impl Progress for ChunkProgress {
    fn advance(&self, chunks: u64) {
        self.0.inc(chunks);
    }

    fn expect(&self, chunks: Option<u64>) {
        self.0.reset();
        set_style(&self.0, chunk_style(chunks));
        if let Some(chunks) = chunks {
            self.0.set_length(chunks);
        }
    }

    fn advance_verified(&self, chunks: u64) {
        if self.0.message() != "verifying" {
            self.0.set_position(0);
            self.0.set_message("verifying");
        }
        self.0.inc(chunks);
    }
}

impl Drop for ChunkProgress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Returns a bar for a known duration.
pub(crate) fn seconds(console: &Console, what: &'static str, seconds: f64) -> ProgressBar {
    let length = Duration::from_secs_f64(seconds).as_secs();
    let bar = ProgressBar::with_draw_target(Some(length), target(console));
    set_style(&bar, "{msg} {wide_bar} {pos}/{len} s");
    shown(bar, what)
}

/// Draws the bar immediately instead of after its first step.
fn shown(bar: ProgressBar, what: &'static str) -> ProgressBar {
    let bar = bar.with_message(what);
    bar.tick();
    bar
}

fn rate(state: &ProgressState, out: &mut dyn fmt::Write) {
    // A progress bar cannot report that writing failed.
    write!(out, "{:.0}/s", state.per_sec()).unwrap_or_default();
}

/// Returns a spinner for work of unknown length.
pub(crate) fn spinner(console: &Console, what: &'static str) -> ProgressBar {
    let spinner = ProgressBar::with_draw_target(None, target(console)).with_message(what);
    set_style(&spinner, "{spinner} {msg} {elapsed}");
    if !spinner.is_hidden() {
        spinner.enable_steady_tick(TICK);
    }
    spinner
}

fn target(console: &Console) -> ProgressDrawTarget {
    if console.is_quiet() || !io::stderr().is_terminal() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    }
}
