//! One table of everything that changes a world, and the promises that each call keeps: it is
//! refused while another program writes the world, planning writes nothing, killed anywhere each
//! chunk and file is old or new, undoing restores every byte, and a second run completes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod calls;
mod fixture;
mod listed;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use calls::{CALLS, Call};
use fixture::{Save, State};
use hyworld::maintenance::{NoProgress, die_after};
use hyworld::world::{ServerCheck, WritePermit};
use hyworld::{ChangeOptions, ErrorKind, Undo, UndoOptions};

/// The bytes of all files of a save.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Runs a call on a fresh save and lets it die after some operations. Returns the save, its files
/// before the call, and whether the call finished.
fn killed(call: &Call, after: Option<u64>) -> (Save, Files, bool) {
    let save = Save::new();
    (call.prepare)(&save);
    let files = save.files();
    die_after(after);
    let is_finished = (call.run)(&save).is_ok();
    die_after(None);
    (save, files, is_finished)
}

/// Undoes the newest bundle, if there is a usable one.
fn undo(save: &Save, known: &[PathBuf]) {
    let is_known = |path: &PathBuf| known.iter().any(|known| known.file_name() == path.file_name());
    let Some(bundle) = save.bundles().into_iter().find(|path| !is_known(path)) else { return };
    let options = UndoOptions { trust_bundle: true, ..UndoOptions::default() };
    // A bundle without a header belongs to a change that was not begun.
    let Ok(undo) = Undo::plan(&bundle, &options) else { return };
    let report = undo.apply(&ChangeOptions::new(), &NoProgress).unwrap();
    let conflicts = report.findings.kept().iter().filter(|found| found.class.name() == "conflict");
    assert_eq!(conflicts.count(), 0, "{report:?}");
}

fn check_old_or_new(what: &str, now: &State, before: &State, after: &State) {
    for (at, document) in &now.chunks {
        let [old, new] = [before, after].map(|state| state.chunks.get(at));
        assert!(Some(document) == old || Some(document) == new, "{what}: chunk {at:?}");
    }
    for at in before.chunks.keys().filter(|at| !now.chunks.contains_key(at)) {
        assert!(!after.chunks.contains_key(at), "{what}: chunk {at:?} is lost");
    }
    for (path, bytes) in &now.others {
        let [old, new] = [before, after].map(|state| state.others.get(path));
        assert!(Some(bytes) == old || Some(bytes) == new, "{what}: {}", path.display());
    }
}

#[test]
fn killed_anywhere_each_chunk_is_old_or_new_and_undo_restores_every_byte() {
    let mut points = BTreeMap::new();
    for call in CALLS {
        let (save, files, is_finished) = killed(call, None);
        assert!(is_finished, "{} failed", call.name);
        let after = save.state();
        assert!(save.files() != files, "{} changes nothing", call.name);
        let fresh = Save::new();
        (call.prepare)(&fresh);
        let (before, known) = (fresh.state(), fresh.bundles());
        for point in 0.. {
            let what = format!("{} killed at {point}", call.name);
            let (save, files, is_finished) = killed(call, Some(point));
            if is_finished {
                points.insert(call.name, point);
                undo(&save, &known);
                assert!(save.files() == files, "{}: undo", call.name);
                break;
            }
            check_old_or_new(&what, &save.state(), &before, &after);
            undo(&save, &known);
            assert!(save.state() == before, "{what}, then undone");
            let (save, _, _) = killed(call, Some(point));
            // A call that was finished before it was killed has nothing to do any more.
            drop((call.run)(&save));
            assert!(save.state() == after, "{what}, then run again");
        }
    }
    let sum: u64 = points.values().sum();
    println!("{} calls, {sum} crash points: {points:?}", points.len());
}

#[test]
fn nothing_is_changed_while_another_process_writes_the_world() {
    for call in CALLS {
        let save = Save::new();
        (call.prepare)(&save);
        let (before, bundles) = (save.files(), save.bundles());
        let permit = WritePermit::of_world(&save.world(), ServerCheck::Skip).unwrap();
        let error = (call.run)(&save).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InUse, "{}: {error}", call.name);
        drop(permit);
        assert!(save.files() == before && save.bundles() == bundles, "{}", call.name);
    }
}

#[test]
fn planning_writes_nothing() {
    let mut plans = 0;
    for call in CALLS {
        let Some(plan) = call.plan else { continue };
        let save = Save::new();
        (call.prepare)(&save);
        let permit = WritePermit::of_world(&save.world(), ServerCheck::Skip).unwrap();
        let (before, bundles) = (save.files(), save.bundles());
        plan(&save).unwrap();
        assert!(save.files() == before && save.bundles() == bundles, "{}", call.name);
        drop(permit);
        plans += 1;
    }
    assert_eq!(plans, 9);
}

#[test]
fn a_world_that_changed_after_the_plan_is_refused() {
    for call in CALLS {
        let Some(late) = call.late else { continue };
        let save = Save::new();
        (call.prepare)(&save);
        let error = late(&save).unwrap_err();
        assert!(error.to_string().contains("changed since"), "{}: {error}", call.name);
        assert_eq!(save.bundles().len(), usize::from(call.name == "undo"), "{}", call.name);
    }
}

/// Returns the path of a file below the folder of this crate.
fn crate_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}
