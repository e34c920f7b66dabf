//! Replaces a block by another one, from y 0 to 319 between two columns:
//! `replace_blocks PATH FROM TO X1 Z1 X2 Z2`.
#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use hyworld::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, from, to, x1, z1, x2, z2] = args.as_slice() else {
        return Err("usage: PATH FROM TO X1 Z1 X2 Z2".into());
    };
    let corner = BlockPos::new(x1.parse()?, 0, z1.parse()?);
    let area = BlockBox::new(corner, BlockPos::new(x2.parse()?, 319, z2.parse()?));
    let mut replaced = 0;
    hyworld::open(path)?.edit(area, |chunk, part| {
        replaced += chunk.replace_blocks(part, from.as_str(), to.as_str())?.replaced;
        Ok(())
    })?;
    println!("{replaced} blocks replaced");
    Ok(())
}
