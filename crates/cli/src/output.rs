//! Output: data to stdout, messages and progress to stderr.

pub(crate) mod advice;
pub(crate) mod json;
pub(crate) mod plot;
pub(crate) mod progress;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod unread;
pub(crate) mod unsaved;

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::num::NonZeroUsize;

use crate::args::Global;

/// The maximum for `--jobs`. More threads do not help, even on a slow network.
const JOBS_MAX: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// Both output streams, with `--quiet`, `--verbose` and `--jobs`.
pub(crate) struct Console {
    data: Box<dyn Write>,
    quiet: bool,
    verbose: bool,
    jobs: NonZeroUsize,
}

impl Console {
    pub(crate) fn new(global: &Global) -> Self {
        let stdout = io::stdout();
        // Line by line on a terminal, otherwise in large blocks.
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

    /// Creates a console that prints nothing.
    pub(crate) fn silent(&self) -> Self {
        Self { data: Box::new(io::sink()), quiet: true, verbose: false, jobs: self.jobs }
    }

    /// Creates a console whose data goes to memory and whose messages are not shown.
    #[cfg(feature = "serve")]
    pub(crate) fn in_memory(jobs: NonZeroUsize) -> (Self, Buffer) {
        let buffer = Buffer::default();
        let data = Box::new(buffer.clone());
        (Self { data, quiet: true, verbose: false, jobs }, buffer)
    }

    /// Returns the number of worker threads.
    pub(crate) fn jobs(&self) -> NonZeroUsize {
        self.jobs
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Flushes the buffered output.
    pub(crate) fn flush_data(&mut self) -> io::Result<()> {
        self.data.flush()
    }

    /// Prints one line about what was done, unless `--quiet`. This is the result of a verb that
    /// changes something, so it goes to stdout.
    pub(crate) fn report(&mut self, line: fmt::Arguments<'_>) -> io::Result<()> {
        if !self.quiet {
            writeln!(self.data, "{}", text::printable(&line.to_string()))?;
        }
        Ok(())
    }

    /// Prints one line to stderr, unless `--quiet`.
    pub(crate) fn say(&mut self, line: fmt::Arguments<'_>) -> io::Result<()> {
        if !self.quiet {
            self.print_to_stderr(line)?;
        }
        Ok(())
    }

    /// Prints one line to stderr with `--verbose`.
    pub(crate) fn detail(&mut self, line: fmt::Arguments<'_>) -> io::Result<()> {
        if self.verbose {
            self.print_to_stderr(line)?;
        }
        Ok(())
    }

    /// Prints a line to stderr, after flushing the data before it. Ignores a closed stderr.
    fn print_to_stderr(&mut self, line: fmt::Arguments<'_>) -> io::Result<()> {
        self.data.flush()?;
        writeln!(io::stderr(), "{}", text::printable(&line.to_string())).unwrap_or_default();
        Ok(())
    }

    /// Returns whether to proceed: `--yes` was given, or the user confirms. Without a terminal, the
    /// answer is no.
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

/// Data in memory.
#[cfg(feature = "serve")]
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);

#[cfg(feature = "serve")]
impl Buffer {
    /// Returns the data that was written.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.0.take()
    }
}

#[cfg(feature = "serve")]
impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
