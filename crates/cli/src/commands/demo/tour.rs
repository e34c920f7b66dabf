//! What the tour shows: numbered titles, commands as they are typed, what they print, how long
//! they took.

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

/// Stand for the world of the tour, for the copy of its region file, and for the copy that is
/// damaged, in a command.
pub(super) const WORLD: &str = "{folder}/universe/worlds/sample";
pub(super) const COPY: &str = "{folder}/copy/0.0.region.bin";
pub(super) const DAMAGED: &str = "{folder}/damaged/0.0.region.bin";

/// One command that ran.
#[derive(Debug, Serialize)]
struct Step {
    title: String,
    command: String,
    exit: u8,
    ms: Millis,
}

/// What the demo did, for programs.
#[derive(Debug, Default, Serialize)]
pub(super) struct DemoReport {
    folder: String,
    pub(super) blobs: usize,
    steps: Vec<Step>,
    world: String,
    pub(super) edited_blocks: usize,
    /// Bytes of the documents of all chunks together.
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

    /// The path that stands in a command.
    pub(super) fn path(&self, in_command: &str) -> PathBuf {
        PathBuf::from(self.filled(in_command))
    }

    fn filled(&self, word: &str) -> String {
        word.replace("{folder}", &self.folder.display().to_string())
    }

    /// How many threads may work.
    pub(super) fn jobs(&self) -> NonZeroUsize {
        self.console.jobs()
    }

    /// A bar for work that is no command.
    pub(super) fn bar(&self, what: &'static str, chunks: usize) -> ProgressBar {
        progress::chunks(self.console, what, Some(chunks as u64))
    }

    /// Begins the next part.
    pub(super) fn title(&mut self, title: &str) -> anyhow::Result<()> {
        if self.titles == 0 {
            writeln!(self.console, "Everything happens in {}", self.folder.display())?;
        }
        self.titles = self.titles.saturating_add(1);
        title.clone_into(&mut self.title);
        writeln!(self.console, "\n{}. {title}", self.titles)?;
        Ok(())
    }

    /// A sentence. What it says was measured or checked.
    pub(super) fn line(&mut self, line: &str) -> anyhow::Result<()> {
        writeln!(self.console, "{line}")?;
        Ok(())
    }

    /// Shows a command, runs it, and makes sure that it ends as it must.
    pub(super) fn command(&mut self, words: &[&str], expected: Exit) -> anyhow::Result<()> {
        let words: Vec<String> = words.iter().map(|word| self.filled(word)).collect();
        let command = format!("hyworld {}", words.join(" "));
        writeln!(self.console, "\n$ {command}")?;
        let parsed = Cli::try_parse_from(["hyworld".to_owned()].into_iter().chain(words));
        let parsed = parsed.context("the tour has a command that does not parse")?;
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

    /// Says where everything is, and gives the report for programs.
    pub(super) fn finish(self, mut report: DemoReport) -> anyhow::Result<DemoReport> {
        let took = text::duration(self.started.elapsed());
        let folder = self.folder.display();
        writeln!(self.console, "\nDone in {took}. The files are in {folder}")?;
        writeln!(self.console, "`hyworld --help` has the rest.")?;
        report.folder = folder.to_string();
        report.world = self.filled(WORLD);
        report.steps = self.steps;
        Ok(report)
    }
}
