//! A bundle is undone only on the world it belongs to.

use super::*;
use hyworld_testkit::damage::copy_folder;
use hyworld_testkit::shared;

#[test]
fn a_bundle_of_another_world_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let save = Save::create(folder.path().join("save"), "Rock_Stone");
    let other = Save::create(folder.path().join("other"), "Soil_Dirt");
    other.trim();
    let (bundle, before) = (save.trim(), other.files());
    let error = undo(&bundle, Some(&other.world())).unwrap_err().to_string();
    assert!(error.contains("another world"), "{error}");
    assert!(other.files() == before, "nothing was changed");
    assert_eq!(undo(&bundle, Some(&save.world())).unwrap().files, 1);
}

#[test]
fn a_copy_of_the_world_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let save = Save::create(folder.path().join("save"), "Rock_Stone");
    let before = save.files();
    let bundle = save.trim();
    let moved = folder.path().join("moved");
    fs::rename(save.world(), &moved).unwrap();
    assert_eq!(undo(&bundle, Some(&moved)).unwrap().findings.total(), 0);
    fs::rename(&moved, save.world()).unwrap();
    assert!(save.files() == before);
}

/// Removes all chunks at a location, except some that are kept. Returns the bundle.
fn trim_all(path: &Path, kept: usize) -> PathBuf {
    let world = hyworld::open(path).unwrap();
    let keep = world.storage().positions().flatten().take(kept).collect();
    let options = TrimOptions { include_touched: true, keep, ..TrimOptions::default() };
    let (scan, mut found) = (ScanOptions::new(), |_: &_| {});
    let plan = world.plan_trim(&options, &scan, &mut found, &NoProgress).unwrap();
    applied(&world, &plan).unwrap()
}

/// With and without configurations, which have the UUIDs.
#[test]
fn chunks_of_another_real_world_are_refused() {
    let Some(worlds) = shared("worlds") else { return };
    for inside in ["", "chunks"] {
        let folder = tempfile::tempdir().unwrap();
        let [ocean, explored] = ["ocean", "explored"].map(|name| {
            let from = worlds.join(format!("{name}-2026-01/universe/worlds/default"));
            copy_folder(&from.join(inside), &folder.path().join(name));
            folder.path().join(name)
        });
        let bundle = trim_all(&ocean, 0);
        let before = files(&explored);
        let error = undo(&bundle, Some(&explored)).unwrap_err().to_string();
        assert!(error.contains("--trust-bundle"), "{error}");
        assert!(files(&explored) == before, "nothing was changed");
        // Some chunks are left, so that a moved copy can be recognised.
        let before: Vec<_> = before.into_values().collect();
        let bundle = trim_all(&explored, 40);
        let moved = folder.path().join("moved");
        fs::rename(&explored, &moved).unwrap();
        assert_eq!(undo(&bundle, Some(&moved)).unwrap().findings.total(), 0, "{inside}");
        let now = files(&moved).into_iter().filter(|(path, _)| !path.ends_with(".hyworld.lock"));
        assert!(now.map(|(_, bytes)| bytes).eq(before), "every byte is restored");
    }
}
