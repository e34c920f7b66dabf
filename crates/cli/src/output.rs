//! What the program writes: data to stdout, talk and progress to stderr.

pub(crate) mod advice;
pub(crate) mod json;
pub(crate) mod progress;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod unsaved;

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::num::NonZeroUsize;

use crate::args::Global;

/// More threads than this only wait for each other, also where a network is slow.
const JOBS_MAX: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// Both streams, and the switches that say how much goes there.
pub(crate) struct Console {
    data: Box<dyn Write>,
    quiet: bool,
    verbose: bool,
    jobs: NonZeroUsize,
}

impl Console {
    pub(crate) fn new(global: &Global) -> Self {
        let stdout = io::stdout();
        // On a terminal lines appear as they are written; anywhere else in large pieces.
        let data: Box<dyn Write> = if stdout.is_terminal() {
            Box::new(stdout.lock())
        } else {
            Box::new(BufWriter::with_capacity(1 << 16, stdout.lock()))
        };
        let processors = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self {
            data,
            quiet: global.quiet,
            verbose: global.verbose,
            jobs: global.jobs.unwrap_or(processors).min(JOBS_MAX),
        }
    }

    /// A console that shows nothing.
    pub(crate) fn silent(&self) -> Self {
        Self { data: Box::new(io::sink()), quiet: true, verbose: false, jobs: self.jobs }
    }

    /// How many threads may work.
    pub(crate) fn jobs(&self) -> NonZeroUsize {
        self.jobs
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Writes out what is buffered.
    pub(crate) fn flush_data(&mut self) -> io::Result<()> {
        self.data.flush()
    }

    /// One line about what was done, unless `--quiet`. It is the result of a verb that changes
    /// something, so it goes to stdout.
    pub(crate) fn report(&mut self, line: fmt::Arguments<'_>) -> io::Result<()> {
        if !self.quiet {
            writeln!(self.data, "{}", text::printable(&line.to_string()))?;
        }
        Ok(())
    }

    /// One line for the person at the terminal, unless `--quiet`.
    pub(crate) fn say(&mut self, line: fmt::Arguments<'_>) -> io::Result<()> {
        if !self.quiet {
            self.talk(line)?;
        }
        Ok(())
    }

    /// One line that only `--verbose` asks for.
    pub(crate) fn detail(&mut self, line: fmt::Arguments<'_>) -> io::Result<()> {
        if self.verbose {
            self.talk(line)?;
        }
        Ok(())
    }

    /// Writes a line to stderr, after the data that came before it. That nobody reads it any more
    /// is no reason to stop working.
    fn talk(&mut self, line: fmt::Arguments<'_>) -> io::Result<()> {
        self.data.flush()?;
        writeln!(io::stderr(), "{}", text::printable(&line.to_string())).unwrap_or_default();
        Ok(())
    }

    /// Whether to go on: `--yes` says so, or the person who is asked. Where nobody can be asked,
    /// nothing is done.
    pub(crate) fn confirm(&mut self, question: &str, yes: bool) -> io::Result<bool> {
        if yes {
            return Ok(true);
        }
        self.data.flush()?;
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Ok(false);
        }
        write!(io::stderr(), "{question} [y/N] ").unwrap_or_default();
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
    }
}

impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.data.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.data.flush()
    }
}
