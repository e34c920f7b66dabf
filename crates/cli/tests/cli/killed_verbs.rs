//! `repair`, `restore`, `compact`, `trim` and `undo` are killed at random moments. Nothing is lost,
//! the next run finishes the work, and undoing restores the exact bytes.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, RegionFiles};
use hyworld_testkit::Random;
use hyworld_testkit::damage::copy_folder;

use crate::repairing::{damage, files, save};
use crate::run::Sandbox;

/// How often each verb is killed. More with `HYWORLD_KILLS`.
fn kills() -> u32 {
    std::env::var("HYWORLD_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(12)
}

/// Replaces the folder `save` by a copy of another folder.
fn reset(sandbox: &Sandbox, from: &str) {
    fs::remove_dir_all(sandbox.path("save")).unwrap();
    copy_folder(&sandbox.path(from), &sandbox.path("save"));
}

/// Kills commands after a part of the time that they need.
pub(crate) struct Killer {
    /// The time that a command needs, at most.
    pub(crate) needed: Duration,
    pub(crate) random: Random,
}

impl Killer {
    /// Runs a command and kills it. Returns whether it was killed before it ended.
    pub(crate) fn run(&mut self, sandbox: &Sandbox, words: &[&str]) -> bool {
        self.run_first_part(sandbox, words, 1)
    }

    /// Like [`run`](Self::run), but kills it in the first half of its time, third, and so on.
    pub(crate) fn run_first_part(&mut self, sandbox: &Sandbox, words: &[&str], part: u32) -> bool {
        let mut command = sandbox.command(words);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let micros = (u32::try_from(self.needed.as_micros()).unwrap() / part).max(1);
        let delay = Duration::from_micros(self.random.below(micros).into());
        std::thread::sleep(delay);
        child.kill().unwrap();
        let is_killed = child.wait().unwrap().code().is_none();
        if !is_killed {
            // The first run was slower, for example because other tests were running.
            self.needed = delay;
        }
        is_killed
    }
}

/// Undoes all bundles of a verb, newest first.
fn undo_all(sandbox: &Sandbox, verb: &str) {
    let name = |number: u32| format!("save/universe/worlds/w-{verb}-{number}.hyundo");
    let newest = (1..100).take_while(|number| sandbox.path(&name(*number)).exists()).last();
    for number in (1..=newest.unwrap_or(0)).rev() {
        // A process that was killed before the first record leaves an empty bundle.
        if fs::metadata(sandbox.path(&name(number))).unwrap().len() > 0 {
            sandbox.run(&["undo", &name(number), "--yes"]);
        }
    }
}

/// Kills a verb again and again, each time from the state in the folder `start`.
fn kill_often(sandbox: &Sandbox, words: &[&str], check: &dyn Fn(&Path)) {
    let before = files(&sandbox.path("start"));
    reset(sandbox, "start");
    let clock = Instant::now();
    sandbox.run(words).ends(0);
    let mut random_kill = Killer { needed: clock.elapsed(), random: Random::new(7) };
    let done = files(&sandbox.path("save"));
    let (mut killed, mut round) = (0, 0);
    while killed < kills() {
        round += 1;
        assert!(round <= 10 * kills(), "only {killed} were killed in time");
        reset(sandbox, "start");
        killed += u32::from(random_kill.run(sandbox, words));
        check(&sandbox.path("save"));
        sandbox.run(words).ends(0);
        let finished = files(&sandbox.path("save"));
        assert!(finished.keys().eq(done.keys()), "round {round}: no file is left over");
        check(&sandbox.path("save"));
        undo_all(sandbox, words[0]);
        assert!(files(&sandbox.path("save")) == before, "round {round}: every byte is back");
    }
}

/// Returns a check that all chunks of the folder `good` that are not damaged in `start` are intact.
fn intact_chunks(sandbox: &Sandbox) -> impl Fn(&Path) + use<> {
    let documents = |save: &Path| {
        let world = hyworld::open(save.join("universe/worlds/w")).unwrap();
        let positions: Vec<_> = world.storage().positions().map(Result::unwrap).collect();
        let read = |at| (at, world.storage().read(at).ok().flatten());
        positions.into_iter().map(read).collect::<std::collections::BTreeMap<_, _>>()
    };
    let good = documents(&sandbox.path("good"));
    let start = documents(&sandbox.path("start"));
    move |save: &Path| {
        let now = documents(save);
        for (at, document) in &good {
            let found = now.get(at).cloned().flatten();
            let was = start.get(at).cloned().flatten();
            assert!(found == *document || found == was, "{at}: neither old nor new");
        }
    }
}

#[test]
fn a_killed_repair_is_finished_by_the_next() {
    let sandbox = save();
    damage(&sandbox.path("save"));
    fs::rename(sandbox.path("save"), sandbox.path("start")).unwrap();
    copy_folder(&sandbox.path("start"), &sandbox.path("save"));
    let check = intact_chunks(&sandbox);
    kill_often(&sandbox, &["repair", "save", "--from", "good", "--yes"], &check);
}

#[test]
fn a_killed_restore_is_finished_by_the_next() {
    let sandbox = save();
    damage(&sandbox.path("save"));
    fs::rename(sandbox.path("save"), sandbox.path("start")).unwrap();
    copy_folder(&sandbox.path("start"), &sandbox.path("save"));
    let check = intact_chunks(&sandbox);
    let words = ["restore", "save", "--from", "good", "--area", "-9,-9:9,9", "--yes"];
    kill_often(&sandbox, &words, &check);
}

#[test]
fn a_killed_compact_is_finished_by_the_next() {
    let sandbox = save();
    for (region, slot) in [("0.0", "0,0"), ("-1.0", "31,0"), ("0.-1", "0,31"), ("-1.-1", "31,31")] {
        let file = format!("save/universe/worlds/w/chunks/{region}.region.bin");
        sandbox.run(&["region", "rm", &file, slot]).ends(0);
    }
    fs::rename(sandbox.path("save"), sandbox.path("start")).unwrap();
    copy_folder(&sandbox.path("start"), &sandbox.path("save"));
    let check = intact_chunks(&sandbox);
    kill_often(&sandbox, &["compact", "save", "--yes"], &check);
}

/// Each chunk is old or removed, and all bundles together restore everything.
#[test]
fn a_killed_trim_is_finished_by_the_next() {
    let sandbox = crate::querying::save();
    let worlds = sandbox.path("save/universe/worlds");
    fs::rename(worlds.join("one"), worlds.join("w")).unwrap();
    // A region that loses all of its chunks, so that its file is removed.
    let storage = RegionFiles::open(&worlds.join("w/chunks")).unwrap();
    for x in 100..104 {
        let document = crate::querying::natural().encode();
        storage.write(ChunkPos::new(x, 0), &document).unwrap();
    }
    drop(storage);
    fs::rename(sandbox.path("save"), sandbox.path("start")).unwrap();
    copy_folder(&sandbox.path("start"), &sandbox.path("save"));
    let start = hyworld::open(sandbox.path("start")).unwrap();
    let check = move |save: &Path| {
        let now = hyworld::open(save).unwrap();
        for at in start.storage().positions() {
            let at = at.unwrap();
            let found = now.storage().read(at).unwrap();
            let was = start.storage().read(at).unwrap();
            assert!(found.is_none() || found == was, "{at}: neither old nor removed");
        }
    };
    kill_often(&sandbox, &["trim", "save", "--all", "--ring", "0", "--yes"], &check);
}

#[test]
fn a_killed_undo_is_finished_by_the_next() {
    let sandbox = save();
    damage(&sandbox.path("save"));
    copy_folder(&sandbox.path("save"), &sandbox.path("start"));
    let damaged = files(&sandbox.path("save"));
    sandbox.run(&["repair", "save", "--from", "good", "--yes"]).ends(0);
    copy_folder(&sandbox.path("save"), &sandbox.path("repaired"));
    let words = ["undo", "save/universe/worlds/w-repair-1.hyundo", "--yes"];
    let clock = Instant::now();
    sandbox.run(&words).ends(0);
    let mut random_kill = Killer { needed: clock.elapsed(), random: Random::new(9) };
    let check = intact_chunks(&sandbox);
    for round in 0..kills() {
        reset(&sandbox, "repaired");
        random_kill.run(&sandbox, &words);
        check(&sandbox.path("save"));
        sandbox.run(&words).ends(0);
        let mut now = files(&sandbox.path("save"));
        now.retain(|path, _| path.extension().is_none_or(|end| end != "hyundo"));
        assert!(now == damaged, "round {round}: every byte is back");
    }
}
