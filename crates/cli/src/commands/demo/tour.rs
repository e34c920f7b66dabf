//! The output of the demo: numbered titles, commands, their output and their duration.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::Parser;
use hyworld_bench::Millis;
use hyworld_bench::demo::ensure;
use indicatif::ProgressBar;
use serde::Serialize;

use crate::args::Cli;
use crate::exit::Exit;
use crate::output::{Console, progress, text};

/// Paths in the demo's commands: the world, the copy of its region file, and the damaged copy.
pub(super) const WORLD: &str = "{folder}/universe/worlds/sample";
pub(super) const COPY: &str = "{folder}/copy/0.0.region.bin";
pub(super) const DAMAGED: &str = "{folder}/damaged/0.0.region.bin";
/// The picture of the world.
pub(super) const MAP: &str = "{folder}/map.png";

/// A command that was run.
#[derive(Debug, Serialize)]
struct Step {
    title: String,
    command: String,
    exit: u8,
    ms: Millis,
}

/// The JSON report of the demo.
#[derive(Debug, Default, Serialize)]
pub(super) struct DemoReport {
    folder: String,
    pub(super) blobs: usize,
    steps: Vec<Step>,
    world: String,
    /// The picture of the world.
    map: String,
    pub(super) edited_blocks: usize,
    /// The size of the documents of all chunks.
    pub(super) raw: u64,
    pub(super) generate_ms: Millis,
    pub(super) save_ms: Millis,
}

pub(super) struct Tour<'a> {
    console: &'a mut Console,
    folder: PathBuf,
    title: String,
    titles: usize,
    steps: Vec<Step>,
    started: Instant,
}

impl<'a> Tour<'a> {
    pub(super) fn new(console: &'a mut Console, folder: PathBuf) -> Self {
        Self {
            console,
            folder,
            title: String::new(),
            titles: 0,
            steps: Vec::new(),
            started: Instant::now(),
        }
    }

    /// Returns the path that a placeholder in a command stands for.
    pub(super) fn path(&self, in_command: &str) -> PathBuf {
        PathBuf::from(self.filled(in_command))
    }

    fn filled(&self, word: &str) -> String {
        word.replace("{folder}", &self.folder.display().to_string())
    }

    /// Returns the number of worker threads.
    pub(super) fn jobs(&self) -> NonZeroUsize {
        self.console.jobs()
    }

    /// Returns a progress bar for work outside of a command.
    pub(super) fn bar(&self, what: &'static str, chunks: usize) -> ProgressBar {
        progress::chunks(self.console, what, Some(chunks as u64))
    }

    /// Prints the title of the next part.
    pub(super) fn title(&mut self, title: &str) -> anyhow::Result<()> {
        if self.titles == 0 {
            writeln!(self.console, "All files are in {}", self.folder.display())?;
        }
        self.titles = self.titles.saturating_add(1);
        title.clone_into(&mut self.title);
        writeln!(self.console, "\n{}. {title}", self.titles)?;
        Ok(())
    }

    /// Prints a sentence about something that was measured or checked.
    pub(super) fn line(&mut self, line: &str) -> anyhow::Result<()> {
        writeln!(self.console, "{line}")?;
        Ok(())
    }

    /// Prints a command, runs it, and checks its exit code.
    pub(super) fn command(&mut self, words: &[&str], expected: Exit) -> anyhow::Result<()> {
        let words: Vec<String> = words.iter().map(|word| self.filled(word)).collect();
        let command = format!("hyworld {}", words.join(" "));
        writeln!(self.console, "\n$ {command}")?;
        let parsed = Cli::try_parse_from(["hyworld".to_owned()].into_iter().chain(words));
        let parsed = parsed.context("a command of the demo does not parse")?;
        let started = Instant::now();
        let exit = crate::commands::run(parsed.command, None, self.console)?;
        let took = started.elapsed();
        ensure(exit == expected, &format!("`{command}` ends with {expected:?}"))?;
        let title = self.title.clone();
        self.steps.push(Step { title, command, exit: exit.code(), ms: Millis(took) });
        let (took, code) = (text::duration(took), exit.code());
        writeln!(self.console, "[{took}, exit code {code}]")?;
        Ok(())
    }

    /// Prints the folder of the demo, and returns the JSON report.
    pub(super) fn finish(self, mut report: DemoReport) -> anyhow::Result<DemoReport> {
        let took = text::duration(self.started.elapsed());
        let folder = self.folder.display();
        writeln!(self.console, "\nDone in {took}. The files are in {folder}")?;
        writeln!(self.console, "A picture of the world: {}", self.filled(MAP))?;
        writeln!(self.console, "Run `hyworld --help` for more.")?;
        report.folder = folder.to_string();
        report.world = self.filled(WORLD);
        report.map = self.filled(MAP);
        report.steps = self.steps;
        Ok(report)
    }
}
