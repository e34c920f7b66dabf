//! What the tour shows: numbered titles, commands as they are typed, what they print, how long
//! they took.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use serde_json::{Value, json};

use crate::args::Cli;
use crate::exit::{self, Exit};
use crate::output::{Console, text};

/// Stands for the region file of the tour in a command.
pub(super) const FILE: &str = "{folder}/0.0.region.bin";

/// One command that ran.
#[derive(Debug)]
struct Step {
    title: String,
    command: String,
    exit: Exit,
    took: Duration,
}

pub(super) struct Tour<'a> {
    console: &'a mut Console,
    folder: PathBuf,
    file: PathBuf,
    title: String,
    titles: usize,
    steps: Vec<Step>,
    started: Instant,
}

impl<'a> Tour<'a> {
    pub(super) fn new(console: &'a mut Console, folder: PathBuf) -> Self {
        Self {
            console,
            file: folder.join("0.0.region.bin"),
            folder,
            title: String::new(),
            titles: 0,
            steps: Vec::new(),
            started: Instant::now(),
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The region file of the tour.
    pub(super) fn file(&self) -> &Path {
        &self.file
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
        let folder = self.folder.display().to_string();
        let words: Vec<String> =
            words.iter().map(|word| word.replace("{folder}", &folder)).collect();
        let command = format!("hyworld {}", words.join(" "));
        writeln!(self.console, "\n$ {command}")?;
        let parsed = Cli::try_parse_from(["hyworld".to_owned()].into_iter().chain(words));
        let parsed = parsed.context("the tour has a command that does not parse")?;
        let started = Instant::now();
        let exit = crate::commands::run(parsed.command, self.console)?;
        let took = started.elapsed();
        ensure(exit == expected, &format!("`{command}` ends with {expected:?}"))?;
        let title = self.title.clone();
        self.steps.push(Step { title, command, exit, took });
        let (took, code) = (text::duration(took), exit.code());
        writeln!(self.console, "[{took}, exit code {code}]")?;
        Ok(())
    }

    /// Says where everything is, and gives the report for programs.
    pub(super) fn finish(self, blobs: usize) -> anyhow::Result<Value> {
        let took = text::duration(self.started.elapsed());
        let folder = self.folder.display();
        writeln!(self.console, "\nDone in {took}. The files are in {folder}")?;
        writeln!(self.console, "`hyworld --help` has the rest.")?;
        let steps = self.steps.iter().map(|step| {
            json!({
                "title": step.title, "command": step.command, "exit": step.exit.code(),
                "ms": u64::try_from(step.took.as_millis()).unwrap_or(u64::MAX),
            })
        });
        Ok(json!({
            "folder": folder.to_string(), "blobs": blobs, "steps": steps.collect::<Vec<_>>(),
        }))
    }
}

/// Stops the tour where a claim does not hold.
pub(super) fn ensure(holds: bool, claim: &str) -> anyhow::Result<()> {
    if holds {
        Ok(())
    } else {
        Err(exit::failure(format!("the demo found that this is not so: {claim}")))
    }
}
