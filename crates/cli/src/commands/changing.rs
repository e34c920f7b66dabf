//! What every verb that changes a world does: the change is begun before the plan is made, so that
//! a world in use is refused at once, and the plan is applied if the user agrees.

use hyworld::{Change, ChangeOptions, ChangeReport, Plan, World};
use hyworld_maintenance::{Progress, ScanOptions};

use crate::args::health::ApplyArgs;
use crate::exit;
use crate::output::Console;

/// Returns the options of a change. `world` is the name of one of several worlds.
pub(super) fn options(apply: &ApplyArgs, world: Option<&str>, console: &Console) -> ChangeOptions {
    let scan = ScanOptions::new().jobs(console.jobs());
    ChangeOptions::new().bundle(apply.bundle_of(world)).scan(scan)
}

/// Begins a change; `None` for a dry run.
pub(super) fn begin(
    opened: &World,
    verb: &str,
    apply: &ApplyArgs,
    world: Option<&str>,
    console: &Console,
) -> anyhow::Result<Option<Change>> {
    if apply.dry_run {
        return Ok(None);
    }
    Ok(Some(opened.change_with(verb, &options(apply, world, console))?))
}

/// Applies a plan and completes the change.
pub(super) fn apply<P: Plan>(
    change: Option<Change>,
    plan: &P,
    progress: &dyn Progress,
) -> anyhow::Result<(P::Report, ChangeReport)> {
    let mut change = change.ok_or_else(|| exit::usage("a dry run changes nothing"))?;
    let report = change.apply(plan, progress)?;
    Ok((report, change.commit()?))
}
