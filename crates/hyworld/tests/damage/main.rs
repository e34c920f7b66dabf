//! Damage made by code, one kind at a time: each must be found with its class and location, and
//! nothing else may be reported.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod built;
mod flips;
mod manifest;
mod repair;

use std::collections::BTreeMap;
use std::path::Path;

use hyworld::maintenance::{Finding, NoProgress, ScanOptions, Severity};
use hyworld::{check_files, find_worlds, open_for_check};
use hyworld_testkit::damage::{self, Damage, copy_folder};
use hyworld_testkit::shared;

/// Returns all findings about a save.
fn findings(save: &Path) -> Vec<Finding> {
    let mut found = check_files(save);
    for world in find_worlds(save).unwrap() {
        let opened = open_for_check(&world).unwrap();
        let mut add = |finding: &Finding| found.push(finding.clone());
        opened.verify_with(&ScanOptions::new(), &mut add, &NoProgress);
    }
    found
}

fn level(finding: &Finding) -> &'static str {
    match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// Describes findings for comparison with the expected one and for messages.
fn describe(finding: &Finding) -> String {
    let file = finding.file.as_ref().map(|file| file.display().to_string());
    let chunk = finding.chunk.map(|at| (at.x, at.z));
    let slot = finding.slot.map(hyworld::indexed_storage::Slot::get);
    format!(
        "{} ({}) {file:?} {chunk:?} {slot:?} {:?}",
        level(finding),
        finding.class,
        finding.offset
    )
}

/// Applies every damage to a copy of a save, and checks what is reported. Returns the number of
/// damages that the world has something for.
fn check_all(original: &Path, world: &str) -> BTreeMap<&'static str, String> {
    let mut reports = BTreeMap::new();
    let folder = tempfile::tempdir().unwrap();
    let save = folder.path().join("save");
    copy_folder(original, &save);
    let clean = findings(&save);
    let mut failures = Vec::new();
    for damage in damage::all() {
        std::fs::remove_dir_all(&save).unwrap();
        copy_folder(original, &save);
        match check_one(&damage, &save, world, &clean) {
            Some(Ok(message)) => {
                let message = message.replace(&folder.path().display().to_string(), "");
                reports.insert(damage.name, message);
            }
            Some(Err(failure)) => failures.push(failure),
            None => {}
        }
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
    reports
}

/// Returns the message of the finding, or what was reported instead.
fn check_one(
    damage: &Damage,
    save: &Path,
    world: &str,
    clean: &[Finding],
) -> Option<Result<String, String>> {
    let location = damage.apply(&save.join("universe/worlds").join(world))?;
    let found = findings(save);
    let new: Vec<_> = found.iter().filter(|finding| is_new(finding, clean)).collect();
    let expected = format!(
        "{} ({}) {:?} {:?} {:?} {:?}",
        damage.level.name(),
        damage.class,
        location.file.as_ref().map(|file| file.display().to_string()),
        location.chunk,
        location.slot,
        location.offset
    );
    match new.as_slice() {
        [one] if describe(one) == expected => Some(Ok(one.message.clone())),
        others => {
            let others: Vec<_> =
                others.iter().map(|one| format!("  {}: {}", describe(one), one.message)).collect();
            Some(Err(format!(
                "{}: expected\n  {expected}\nfound\n{}",
                damage.name,
                others.join("\n")
            )))
        }
    }
}

/// Returns whether a finding is not about the clean copy. The blob of a chunk may have moved.
fn is_new(finding: &Finding, clean: &[Finding]) -> bool {
    let same = |known: &Finding| {
        let is_place = known.class == finding.class && known.chunk == finding.chunk;
        // A note about the whole world counts what the damaged chunk no longer has.
        let is_total = finding.severity == Severity::Note && finding.file.is_none();
        is_place && (is_total || known.message == finding.message)
    };
    !clean.iter().any(same)
}

/// What healthy worlds show is not an error, and in worlds of the game not even a warning.
#[test]
fn real_worlds_have_no_errors() {
    let Some(worlds) = shared("worlds") else { return };
    let instance = "spaceship-2026-02/Server/Instances/Orbis_Galactic_Spaceship";
    let converted = "converted-2026-04";
    let others = ["explored-2026-01", "ocean-2026-01", "flat-2026-02", "adventure-2026-06"];
    for world in others.into_iter().chain([instance, converted]) {
        let found = findings(&worlds.join(world));
        let worst = found.iter().max_by_key(|finding| finding.severity);
        let limit = if world == converted { Severity::Warning } else { Severity::Note };
        assert!(worst.is_none_or(|worst| worst.severity <= limit), "{world}: {worst:?}");
    }
}

#[test]
fn every_damage_of_a_real_world_is_found() {
    let Some(original) = shared("worlds/explored-2026-01") else { return };
    let reports = check_all(&original, "default");
    let missing: Vec<_> =
        damage::all().into_iter().filter(|damage| !reports.contains_key(damage.name)).collect();
    assert!(missing.is_empty(), "not applicable: {missing:?}");
}

#[test]
fn every_damage_of_a_built_world_is_found() {
    let save = built::save();
    let reports = check_all(save.path(), "built");
    let missing: Vec<_> =
        damage::all().into_iter().filter(|damage| !reports.contains_key(damage.name)).collect();
    assert!(missing.is_empty(), "not applicable: {missing:?}");
    let lines: Vec<String> =
        reports.iter().map(|(name, message)| format!("{name}: {message}\n")).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/damage/expected.txt");
    if std::env::var_os("HYWORLD_WRITE_GOLDEN").is_some() {
        hyworld_testkit::write_file(&path, lines.concat().as_bytes());
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(lines.concat(), expected, "set HYWORLD_WRITE_GOLDEN=1 to accept the new report");
}
