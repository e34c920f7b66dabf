//! `rm FILE SLOT`.

use serde::Serialize;

use super::slot_names::{SlotKeys, SlotNames};
use crate::args::region::RmArgs;
use crate::exit::{self, Exit};
use crate::output::{Console, json, text};

pub(super) fn run(args: &RmArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let path = &args.file;
    let file = super::open_before_change(path)?;
    let names = SlotNames::of(&file);
    let slot = names.resolve(path, args.slot)?;
    let held = file.contains(slot)?;
    let what = match file.stat(slot) {
        Ok(stat) => stat.map_or_else(String::new, |stat| {
            let raw = text::count(stat.raw_bytes, "byte");
            format!("{raw} in {}", text::count(stat.segment_count, "segment"))
        }),
        Err(_) => "damaged".to_owned(),
    };
    drop(file);
    let mut bundle = None;
    if held && !args.dry_run {
        let how = super::change_options(&args.undo, Some(args.force), console);
        let done = hyworld::remove_blob(path, slot, &how).map_err(super::or_force)?;
        bundle = done.bundle;
    }
    let name = names.name(slot);
    if args.json {
        let removed = held && !args.dry_run;
        let slot = names.keys(Some(slot));
        let bundle = bundle.map(|path| path.display().to_string());
        json::line(console, &Report { slot, removed, bundle, dry_run: args.dry_run })?;
    } else if held && args.dry_run {
        console.report(format_args!("{name} would be emptied ({what})"))?;
    } else if held {
        console.report(format_args!("{name} emptied ({what})"))?;
        crate::commands::undo::advise(bundle.as_deref(), console)?;
    } else {
        let message = format!("{}: {name} is already empty", path.display());
        return Err(exit::problem(message));
    }
    Ok(if held { Exit::Clean } else { Exit::Problems })
}

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    slot: SlotKeys,
    removed: bool,
    dry_run: bool,
    /// The undo bundle.
    bundle: Option<String>,
}
