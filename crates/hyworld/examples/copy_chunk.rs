//! Copies a chunk from one world to another: `copy_chunk FROM TO X Z`.
#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use hyworld::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [from, to, x, z] = args.as_slice() else { return Err("usage: FROM TO X Z".into()) };
    let at = ChunkPos::new(x.parse()?, z.parse()?);
    let document = hyworld::open(from)?.storage().read(at)?.ok_or("no chunk is stored there")?;
    let mut change = hyworld::open(to)?.change("copy")?;
    change.put(at, &document)?;
    let report = change.commit()?;
    println!("{} chunk written; undo: {:?}", report.written, report.bundle);
    Ok(())
}
