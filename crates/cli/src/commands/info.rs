//! `info PATH`: shows what a path contains.

mod public;
mod show;

use hyworld::{Info, InfoOptions};
use hyworld_maintenance::ScanOptions;

use crate::args::info::InfoArgs;
use crate::exit::Exit;
use crate::output::progress::ChunkProgress;
use crate::output::{Console, json};

pub(super) fn run(args: &InfoArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let options = InfoOptions { fast: args.fast, scan: ScanOptions::new().jobs(console.jobs()) };
    let bar = ChunkProgress::new(console, "counting", None);
    let info = Info::gather(&args.path, &options, &bar)?;
    drop(bar);
    if args.json && args.without_paths {
        json::line(console, &public::without_paths(&info)?)?;
    } else if args.json {
        json::line(console, &info)?;
    } else {
        show::write(console, &info, args.fast)?;
    }
    Ok(if info.findings.total() == 0 { Exit::Clean } else { Exit::Problems })
}
