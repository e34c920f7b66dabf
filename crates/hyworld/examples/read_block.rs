//! Prints the block at a position: `read_block PATH X Y Z`.
#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use hyworld::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, x, y, z] = args.as_slice() else { return Err("usage: PATH X Y Z".into()) };
    let world = hyworld::open(path)?;
    match world.block(BlockPos::new(x.parse()?, y.parse()?, z.parse()?))? {
        Some(block) => println!("{}", block.key),
        None => println!("no chunk is stored there"),
    }
    Ok(())
}
