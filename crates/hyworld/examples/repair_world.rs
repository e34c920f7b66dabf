//! Repairs a world from a backup, and undoes it again: `repair_world PATH BACKUP`.
#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use hyworld::maintenance::{NoProgress, ScanOptions};
use hyworld::{ChangeOptions, RepairOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, backup] = args.as_slice() else { return Err("usage: PATH BACKUP".into()) };
    let world = hyworld::open(path)?;
    let options = RepairOptions { from: vec![backup.into()], ..RepairOptions::default() };
    let plan = world.plan_repair(&options, &ScanOptions::new(), &NoProgress)?;
    println!("{} chunks to repair", plan.plan.chunks.len());
    let (done, change) = world.apply(&plan, &ChangeOptions::new(), &NoProgress)?;
    println!("{} chunks repaired", done.chunks.repaired);
    if let Some(bundle) = change.bundle {
        println!("{} files restored", world.undo(&bundle)?.files);
    }
    Ok(())
}
