//! A bundle is undone only on the world it belongs to.

use super::*;

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
