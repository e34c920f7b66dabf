//! `dump PATH`: prints every chunk as one line of JSON, as `chunk --json` does.

use std::fmt::{self, Display, Write as _};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use hyworld::Location;
use hyworld_chunk::{BlockMigrations, Chunk, ReadableChunk};
use hyworld_coords::ChunkPos;
use hyworld_maintenance::{ScanOptions, Scanned, reuse_buffer, scan_positions};
use hyworld_providers::{ChunkSize, ChunkStorage, ChunkStorageExt};

use super::{chunk, select, upgrade};
use crate::args::chunk::DumpArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, progress, text};

/// The maximum size of finished lines that wait to be written in order. Chunks whose lines do not
/// fit are read again when they are next.
const WAITING_BYTES_MAX: u64 = 128 << 20;

/// The maximum size of a waiting line. Lines of real chunks have up to 1 MB.
const LINE_BYTES_MAX: usize = 16 << 20;

/// The maximum size and number of line buffers kept for reuse.
const SPARE_BYTES_MAX: usize = 1 << 20;
const SPARE_LINES_MAX: usize = 64;

/// Documents above this size are processed alone.
const LARGE_BYTES: u64 = 32 << 20;

pub(super) fn run(args: &DumpArgs, console: &mut Console) -> anyhow::Result<Exit> {
    super::each_world(&args.path, |path, _| dump(args, path, console))
}

fn dump(args: &DumpArgs, path: &Path, console: &mut Console) -> anyhow::Result<Exit> {
    let location = Location::source(path)?;
    let storage = location.open()?;
    let (positions, exit) =
        select::positions((&args.chosen, &args.selection), &location, &*storage, console)?;
    let source = Source {
        location: &location,
        storage: &*storage,
        migrations: upgrade::migrations(&args.assets, path)?,
        waiting_bytes: AtomicU64::new(0),
        spare: Mutex::default(),
    };
    let mut lines = Lines { source: &source, console, exit, count: 0 };
    let mut rest = positions.as_slice();
    // Documents that need most of the memory budget are written between scans.
    while !rest.is_empty() {
        let small = rest.iter().take_while(|at| !source.is_large(**at)).count();
        let (together, others) = rest.split_at(small);
        lines.scan(together)?;
        rest = others;
        if let Some((large, others)) = others.split_first() {
            lines.write_now(*large)?;
            rest = others;
        }
    }
    let (exit, count) = (lines.exit, text::count(lines.count, "chunk"));
    console.say(format_args!("{}: {count}", storage.location()))?;
    Ok(exit)
}

/// The storage to dump, shared by the worker threads.
struct Source<'a> {
    location: &'a Location,
    storage: &'a dyn ChunkStorage,
    migrations: BlockMigrations,
    waiting_bytes: AtomicU64,
    /// Line buffers for reuse.
    spare: Mutex<Vec<Vec<u8>>>,
}

/// The result of converting a chunk on a worker thread.
enum Line {
    /// The line, and the components that could not be decoded.
    Text(Vec<u8>, Vec<String>),
    /// Too large to keep until its turn.
    Later,
    /// The chunk was removed, or its document is empty.
    Missing,
}

impl Source<'_> {
    fn is_large(&self, at: ChunkPos) -> bool {
        let size = || self.storage.size(at).ok().flatten();
        self.storage.knows_sizes() && size().is_some_and(|size| size.raw > LARGE_BYTES)
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a buffer for reuse, unless it is too large or enough are kept.
    fn reuse(&self, mut line: Vec<u8>) {
        line.clear();
        let mut spare = self.spare();
        if line.capacity() <= SPARE_BYTES_MAX && spare.len() < SPARE_LINES_MAX {
            spare.push(line);
        }
    }

    fn name(&self, at: ChunkPos) -> String {
        format!("chunk {},{} in {}", at.x, at.z, self.storage.location())
    }

    fn convert(&self, at: ChunkPos, document: Option<Vec<u8>>) -> anyhow::Result<Line> {
        let Some((raw, chunk)) = self.decode(at, document)? else { return Ok(Line::Missing) };
        let mut line = LimitedBuffer(self.spare().pop().unwrap_or_default());
        let readable = ReadableChunk::new(&chunk, at);
        let written = writeln!(line, "{}", self.json_text(raw, &readable)?);
        let errors = errors(&readable);
        reuse_buffer(chunk.into_buffer());
        if written.is_err() {
            return Ok(Line::Later);
        }
        let bytes = line.0.len() as u64;
        let before = self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > WAITING_BYTES_MAX {
            self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
            return Ok(Line::Later);
        }
        Ok(Line::Text(line.0, errors))
    }

    fn decode(
        &self,
        at: ChunkPos,
        document: Option<Vec<u8>>,
    ) -> anyhow::Result<Option<(u64, Chunk)>> {
        let Some(document) = document.filter(|document| !document.is_empty()) else {
            return Ok(None);
        };
        let raw = document.len() as u64;
        let mut chunk = Chunk::decode(document).with_context(|| self.name(at))?;
        upgrade::rename(&mut chunk, &self.migrations);
        Ok(Some((raw, chunk)))
    }

    fn json_text<'a>(
        &self,
        raw: u64,
        readable: &'a ReadableChunk<'a>,
    ) -> anyhow::Result<impl Display + use<'a>> {
        let at = readable.at();
        let size = match self.location {
            // Asking the database would read the whole document again.
            Location::RocksDb(_) => None,
            _ => self.storage.size(at).ok().flatten(),
        };
        let size = size.unwrap_or(ChunkSize { raw, stored: None });
        let file = self.location.region_file_of(at);
        let file = file.unwrap_or_else(|| self.storage.location().into());
        chunk::json_text(Some(&file), size, readable)
    }
}

/// Returns what could not be decoded.
fn errors(readable: &ReadableChunk<'_>) -> Vec<String> {
    readable.errors().map(ToString::to_string).collect()
}

/// Writes lines in the order of the chunks.
struct Lines<'a> {
    source: &'a Source<'a>,
    console: &'a mut Console,
    exit: Exit,
    count: u64,
}

impl Lines<'_> {
    /// Converts chunks on several threads and writes their lines.
    fn scan(&mut self, positions: &[ChunkPos]) -> anyhow::Result<()> {
        let source = self.source;
        let stop = Arc::new(AtomicBool::new(false));
        let options = ScanOptions::new().jobs(self.console.jobs()).ordered(true);
        let options = options.cancel(Arc::clone(&stop));
        let bar = progress::chunks(self.console, "writing", Some(positions.len() as u64));
        let listed = Box::new(positions.iter().copied().map(Ok));
        let convert = |at, document: hyworld_providers::Result<Option<Vec<u8>>>| {
            source.convert(at, document?)
        };
        let mut written = Ok(());
        let _ended = scan_positions(source.storage, listed, &options, convert, |step| {
            bar.inc(1);
            if written.is_ok() {
                written = self.write(step);
                // Stop the scan if stdout is closed.
                stop.store(written.is_err(), Ordering::Relaxed);
            }
        });
        bar.finish_and_clear();
        written
    }

    fn write(&mut self, step: Scanned<anyhow::Result<Line>>) -> anyhow::Result<()> {
        match step {
            Scanned::Chunk(at, Ok(Line::Text(line, errors))) => {
                self.console.write_all(&line)?;
                self.source.waiting_bytes.fetch_sub(line.len() as u64, Ordering::Relaxed);
                self.source.reuse(line);
                self.add(at, &errors);
            }
            Scanned::Chunk(at, Ok(Line::Later)) => self.write_now(at)?,
            Scanned::Chunk(_, Ok(Line::Missing)) => {}
            Scanned::Chunk(_, Err(error)) => self.complain(&error),
            Scanned::Unlisted(error) => self.complain(&error.into()),
        }
        Ok(())
    }

    /// Reads and writes a chunk on this thread, without holding its line in memory.
    fn write_now(&mut self, at: ChunkPos) -> anyhow::Result<()> {
        let read = self.source.storage.read(at).map_err(anyhow::Error::from);
        match read.and_then(|document| self.source.decode(at, document)) {
            Ok(Some((raw, chunk))) => {
                let readable = ReadableChunk::new(&chunk, at);
                writeln!(self.console, "{}", self.source.json_text(raw, &readable)?)?;
                self.add(at, &errors(&readable));
            }
            Ok(None) => {}
            Err(error) => self.complain(&error),
        }
        Ok(())
    }

    fn add(&mut self, at: ChunkPos, errors: &[String]) {
        self.count = self.count.saturating_add(1);
        for error in errors {
            self.complain(&exit::problem(format!("{}: {error}", self.source.name(at))));
        }
    }

    fn complain(&mut self, error: &anyhow::Error) {
        exit::complain(error);
        self.exit = self.exit.max(Exit::Problems);
    }
}

/// A buffer that fails to grow beyond `LINE_BYTES_MAX`.
struct LimitedBuffer(Vec<u8>);

impl fmt::Write for LimitedBuffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len().saturating_add(text.len()) > LINE_BYTES_MAX {
            return Err(fmt::Error);
        }
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
