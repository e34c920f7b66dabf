//! `bench chunk PATH`: the codec against the decompression of the same chunks, in one run.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use hyworld::Location;
use hyworld_chunk::bench::{self, ChunkTimes, Error};
use hyworld_indexed_storage::IndexedStorageFile;
use hyworld_indexed_storage::bench::Frames;
use serde_json::{Value, json};

use super::{factor, micros, quotient};
use crate::args::bench::ChunkArgs;
use crate::exit::Exit;
use crate::output::table::{Align, Table};
use crate::output::{Console, json, progress, text};

pub(super) fn run(args: &ChunkArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let files = Location::source(&args.path)?.region_files()?;
    let bar = progress::bar(console, "region files", files.len());
    let mut times = ChunkTimes::default();
    for (_, path) in &files {
        times += region(path, args.rounds)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    if args.json {
        json::line(console, &object(args, &times))?;
    } else {
        write(args, console, &times)?;
    }
    Ok(Exit::Clean)
}

/// One region file is held in memory at a time.
fn region(path: &Path, rounds: u32) -> anyhow::Result<ChunkTimes> {
    let file = IndexedStorageFile::open_read_only(path)?;
    let mut frames = Frames::of(&file)?;
    let slots = frames.slots().to_vec();
    let damaged = || Error::from("zstd cannot decompress a blob");
    let decompress = |number| frames.decompress(number).then_some(()).ok_or_else(damaged);
    let times = bench::measure(slots.len(), rounds, decompress, |number| {
        let slot = slots.get(number).ok_or("no such blob")?;
        file.read(*slot)?.ok_or_else(|| Error::from("the slot is empty"))
    });
    times.map_err(|error| anyhow!("{}: {error}", path.display()))
}

fn passes(times: &ChunkTimes) -> [(&'static str, Duration); 5] {
    [
        ("zstd decompresses", times.decompress),
        ("read, find components", times.index),
        ("read, decode everything", times.decode),
        ("read, count blocks", times.histogram),
        ("encode after an edit", times.encode),
    ]
}

fn write(args: &ChunkArgs, console: &mut Console, times: &ChunkTimes) -> anyhow::Result<()> {
    let chunks = text::count(times.chunks as u64, "chunk");
    let raw = text::size(times.raw_bytes);
    writeln!(console, "{}: {chunks}, {raw}", args.path.display())?;
    let mut table = Table::new(&[
        ("all chunks, 1 thread", Align::Left),
        ("time", Align::Right),
        ("to zstd", Align::Right),
    ]);
    for (name, time) in passes(times) {
        table.row([name.to_owned(), text::duration(time), factor(time, times.decompress)]);
    }
    table.write(console, "  ")?;
    Ok(())
}

fn object(args: &ChunkArgs, times: &ChunkTimes) -> Value {
    let ratio = |time| quotient(time, times.decompress);
    json!({
        "path": args.path.display().to_string(),
        "chunks": times.chunks, "raw": times.raw_bytes,
        "decompress_us": micros(times.decompress),
        "index_us": micros(times.index), "decode_us": micros(times.decode),
        "histogram_us": micros(times.histogram), "encode_us": micros(times.encode),
        "ratios": {
            "index": ratio(times.index), "decode": ratio(times.decode),
            "histogram": ratio(times.histogram), "encode": ratio(times.encode),
        },
    })
}
