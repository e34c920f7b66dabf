//! Counts the blocks of a world on all processors: `count_blocks PATH`.
#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use std::collections::BTreeMap;

use hyworld::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: PATH")?;
    let mut totals = BTreeMap::new();
    let count = |_at, chunk: Chunk| {
        let blocks = chunk.histogram()?.into_iter();
        Ok(blocks.map(|(name, count)| (name.into_owned(), count)).collect::<Vec<_>>())
    };
    hyworld::open(path)?.chunks().map_parallel(count, |blocks| {
        for (name, count) in blocks {
            *totals.entry(name).or_insert(0) += count;
        }
    })?;
    for (name, count) in totals {
        println!("{count:>12} {name}");
    }
    Ok(())
}
