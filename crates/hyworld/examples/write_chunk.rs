//! Writes a chunk with a floor of one block: `write_chunk PATH X Z BLOCK`.
#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use hyworld::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, x, z, block] = args.as_slice() else { return Err("usage: PATH X Z BLOCK".into()) };
    let mut chunk = Chunk::new();
    let corners = (ChunkBlock::new(0, 0, 0), ChunkBlock::new(31, 63, 31));
    if let (Some(low), Some(high)) = corners {
        chunk.fill(ChunkBox::new(low, high), block.as_str())?;
    }
    let mut change = hyworld::open(path)?.change("write")?;
    change.put(ChunkPos::new(x.parse()?, z.parse()?), &chunk.encode())?;
    println!("{} chunk written", change.commit()?.written);
    Ok(())
}
