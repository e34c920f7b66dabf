//! Replaces a block by another one, from y 0 to 319 between two columns:
//! `replace_blocks PATH FROM TO X1 Z1 X2 Z2`.
#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use std::sync::atomic::{AtomicU64, Ordering};

use hyworld::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, from, to, x1, z1, x2, z2] = args.as_slice() else {
        return Err("usage: PATH FROM TO X1 Z1 X2 Z2".into());
    };
    let corner = BlockPos::new(x1.parse()?, 0, z1.parse()?);
    let area = BlockBox::new(corner, BlockPos::new(x2.parse()?, 319, z2.parse()?));
    let replaced = AtomicU64::new(0);
    let report = hyworld::open(path)?.edit(area, |chunk, part| {
        let found = chunk.replace_blocks(part, from.as_str(), to.as_str())?.replaced;
        replaced.fetch_add(found.into(), Ordering::Relaxed);
        Ok(())
    })?;
    println!("{} blocks replaced; undo: {:?}", replaced.into_inner(), report.bundle);
    Ok(())
}
