//! Every damage of the table is repaired, with and without a source; no other chunk changes; and
//! undoing restores every byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hyworld::coords::ChunkPos;
use hyworld::maintenance::{Finding, NoProgress, ScanOptions, Severity};
use hyworld::{ChangeOptions, Repair, RepairOptions, Undo, UndoOptions, open, open_for_check};
use hyworld_testkit::damage::{self, Damage, DamageLocation, Level, copy_folder};
use hyworld_testkit::shared;

use crate::{built, describe, findings, is_new};

/// Classes that repair leaves as they are: a newer game wrote them, or only the player knows which
/// of two things is right.
const LEFT: [&str; 7] =
    ["newer", "misplaced", "duplicate", "position", "orphan-filler", "provider", "backup"];

/// Without a source nothing can replace it.
const ONLY_COPY: &str = "configuration damaged, without a backup";

fn files(save: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![save.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|end| end != "hyundo") {
                found.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    found
}

fn documents(world: &Path) -> BTreeMap<ChunkPos, Vec<u8>> {
    let Ok(world) = open(world.join("chunks")) else { return BTreeMap::new() };
    let positions = world.storage().positions().flatten();
    let read = |at| Some((at, world.storage().read(at).ok()??));
    positions.filter_map(read).collect()
}

/// Repairs the world and its universe. Returns the bundles, and whether something was left as it
/// is.
fn repair(save: &Path, world: &Path, options: &RepairOptions) -> (Vec<PathBuf>, bool) {
    let scan = ScanOptions::new();
    let world = open_for_check(world).unwrap();
    let plan = world.plan_repair(options, &scan, &NoProgress).unwrap();
    let is_left = !plan.plan.left.is_empty();
    let how = ChangeOptions::new();
    let (done, changed) = world.apply(&plan, &how, &NoProgress).unwrap();
    assert_eq!(done.chunks.findings.total(), 0, "{:?}", done.chunks.findings);
    let universe = Repair::plan_universe(save, options).unwrap();
    let players = universe.map(|plan| {
        let mut change = plan.begin(&how).unwrap();
        change.apply(&plan, &NoProgress).unwrap();
        change.commit().unwrap()
    });
    let bundles = changed.bundle.into_iter().chain(players.and_then(|done| done.bundle));
    (bundles.collect(), is_left)
}

struct Case<'a> {
    save: &'a Path,
    world: PathBuf,
    original: &'a Path,
    clean: &'a [Finding],
    /// The documents of the undamaged world.
    whole: &'a BTreeMap<ChunkPos, Vec<u8>>,
}

impl Case<'_> {
    /// Returns what is wrong after the repair of a damage.
    fn check(&self, damage: &Damage, with_source: bool) -> Result<(), String> {
        let Some(location) = damage.apply(&self.world) else { return Ok(()) };
        let before = files(self.save);
        let only = match damage.level {
            Level::Error => Vec::new(),
            _ => vec![damage.class.to_owned()],
        };
        let from = if with_source { vec![self.original.to_owned()] } else { Vec::new() };
        // Without a configuration and in flat terrain, nothing proves that the source is the world.
        let trust_source = damage.name == ONLY_COPY;
        let options = RepairOptions { from, only, trust_source, ..RepairOptions::default() };
        let (bundles, is_left) = repair(self.save, &self.world, &options);
        // The game can read what has a warning, so without a better version it stays.
        let may_be_left = damage.level != Level::Error && !with_source;
        let is_left = LEFT.contains(&damage.class) || (is_left && may_be_left);
        let found = findings(self.save);
        let new = found.iter().filter(|finding| is_new(finding, self.clean));
        // A chunk of which parts are lost may have block entities without blocks.
        let is_lossy = !with_source && damage.level == Level::Error;
        let is_bad = |finding: &&Finding| match finding.severity {
            Severity::Error => true,
            Severity::Warning => !is_lossy,
            Severity::Note => damage.level == Level::Note && finding.class.name() == damage.class,
        };
        let bad: Vec<_> = new.filter(is_bad).map(describe).collect();
        let is_left = is_left || (!with_source && damage.name == ONLY_COPY);
        if !bad.is_empty() && !is_left {
            return Err(format!("still there: {}", bad.join("; ")));
        }
        self.check_chunks(&location, with_source && damage.level == Level::Error && !is_left)?;
        for bundle in bundles.iter().rev() {
            let undo = Undo::plan(bundle, &UndoOptions::default()).unwrap();
            let report = undo.apply(&ChangeOptions::new(), &NoProgress).unwrap();
            assert_eq!(report.findings.total(), 0, "{:?}", report.findings);
        }
        if files(self.save) != before {
            return Err("undoing did not restore every byte".to_owned());
        }
        Ok(())
    }

    /// Checks that no undamaged chunk was changed, and with `is_whole` that the damaged one is as
    /// it was.
    fn check_chunks(&self, location: &DamageLocation, is_whole: bool) -> Result<(), String> {
        let now = documents(&self.world);
        let damaged = location.chunk.map(|(x, z)| ChunkPos::new(x, z));
        for (at, document) in self.whole {
            let is_same = now.get(at) == Some(document);
            let is_undamaged = damaged.is_some_and(|damaged| damaged != *at);
            if !is_same && (is_whole || is_undamaged) && !self.shares_damage(*at, location) {
                return Err(format!("chunk {},{} is not as it was", at.x, at.z));
            }
        }
        Ok(())
    }

    /// Returns whether a damage is about a whole region file, so that without a source its chunks
    /// may be lost.
    fn shares_damage(&self, at: ChunkPos, location: &DamageLocation) -> bool {
        let file = self.world.join("chunks").join(at.region().file_name());
        location.chunk.is_none() && location.file.as_ref() == Some(&file) && !file.exists()
    }
}

fn repair_all(original: &Path, name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let save = folder.path().join("save");
    copy_folder(original, &save);
    let world = save.join("universe/worlds").join(name);
    let (clean, whole) = (findings(&save), documents(&world));
    let mut failures = Vec::new();
    for damage in damage::all() {
        for with_source in [true, false] {
            fs::remove_dir_all(folder.path()).unwrap();
            copy_folder(original, &save);
            let world = world.clone();
            let case = Case { save: &save, world, original, clean: &clean, whole: &whole };
            if let Err(failure) = case.check(&damage, with_source) {
                let source = if with_source { "with" } else { "without" };
                failures.push(format!("{} ({source} a source): {failure}", damage.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_damage_of_a_built_world_is_repaired() {
    let save = built::save();
    repair_all(save.path(), "built");
}

#[test]
fn every_damage_of_a_real_world_is_repaired() {
    let Some(original) = shared("worlds/explored-2026-01") else { return };
    repair_all(&original, "default");
}
