//! The viewer of maps, in a headless browser.

#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::browser::{DESKTOP, PHONE, Scenario, assert_clean};
use crate::generated;
use crate::maps::run;
use crate::run::Sandbox;

const MARKERS: &str = r#"{"Markers": {
    "a": {"Name": "Harbour <b>", "Position": {"X": 100.5, "Y": 70, "Z": -60.5}}}}"#;

/// Draws a map of 13 x 13 chunks with two layers and one marker.
fn map() -> Sandbox {
    let sandbox = generated::world("Sample", false);
    run(&sandbox, "pregen world --radius 6").ends(0);
    sandbox.file("world/resources/BlockMapMarkers.json", MARKERS.as_bytes());
    run(&sandbox, "map world -o map --assets none --layer surface,height").ends(0);
    sandbox
}

fn url(sandbox: &Sandbox) -> String {
    format!("file://{}", sandbox.path("map").display())
}

fn look(size: (u32, u32)) {
    let sandbox = map();
    let base = url(&sandbox);
    let Some(scenario) = Scenario::new("look", &format!("{base}/index.html"), size) else { return };
    let seen = scenario.run();
    assert_clean(&seen, &base);
    assert_eq!((&seen["title"], &seen["broken"]), (&"world".into(), &0.into()));
    assert!(seen["hash"].as_str().unwrap().starts_with("#world&"), "{seen}");
    assert_eq!(seen["zoomed"], "#world&16&16&2&surface");
    assert_eq!(
        (&seen["layer"], &seen["layer_hash"]),
        (&"height".into(), &"#world&16&16&2&height".into())
    );
    let cursor = seen["cursor"].as_str().unwrap();
    assert!(cursor.starts_with("block 16, 16 | chunk 0, 0 | region 0, 0 | height "), "{cursor}");
    // The same column as the verb `block` reads it.
    let height: i32 = cursor.split(" | ").nth(3).unwrap()[7..].parse().unwrap();
    let block = run(&sandbox, &format!("block world 16 {height} 16 --json")).ends(0).json();
    assert_eq!(cursor.split(" | ").nth(4), block["block"].as_str(), "{block}");
    let above = run(&sandbox, &format!("block world 16 {} 16 --json", height + 1)).ends(0).json();
    assert_eq!(above["block"], "Empty");
    assert!(seen["moved"].as_f64().unwrap() > 1.0, "the arrow moved the map: {seen}");
    assert_eq!((&seen["keyboard_zoom"], &seen["grid"]), (&1.into(), &true.into()));
    let again = seen["again"].as_array().unwrap();
    assert_eq!(again[0], again[1], "the link shows the same view");
    assert!(again[0].as_str().unwrap().ends_with("&3&height"), "{again:?}");
    assert_eq!((&seen["markers"], &seen["shown_markers"]), (&json!(["map"]), &1.into()));
    assert_eq!(seen["popup"], "Harbour <b>\nmap at 100 70 -61");
}

#[test]
fn the_map_opens_from_a_folder_on_a_desktop() {
    look(DESKTOP);
}

#[test]
fn the_map_opens_from_a_folder_on_a_phone() {
    look(PHONE);
}

fn press_keys(size: (u32, u32)) {
    let sandbox = map();
    let base = url(&sandbox);
    let Some(scenario) = Scenario::new("keys", &format!("{base}/index.html"), size) else { return };
    let seen = scenario.run();
    assert_clean(&seen, &base);
    let moved = |name: &str| seen[name].as_f64().unwrap() > 1.0;
    assert!(moved("before_click"), "{seen}");
    assert_eq!(seen["checked"], true);
    assert_eq!((&seen["layer"], &seen["grid"]), (&"height".into(), &true.into()), "{seen}");
    assert!(moved("after_checkbox"), "{seen}");
    assert_eq!(seen["found"], json!([101, -60]), "Enter goes to the first result: {seen}");
    assert!(moved("after_search"), "{seen}");
    assert_eq!((&seen["while_typing"], &seen["typed_grid"]), (&0.0.into(), &true.into()), "{seen}");
}

#[test]
fn keys_work_without_a_click_on_the_map() {
    press_keys(DESKTOP);
}

#[test]
fn keys_work_without_a_tap_on_the_map() {
    press_keys(PHONE);
}

/// Returns the chunks that `hyworld select` selects.
fn selected(sandbox: &Sandbox, query: &str) -> BTreeSet<(i64, i64)> {
    let found = sandbox.run(&["select", "world", query, "--json"]).ends(0).json();
    let number = |position: &Value, key: &str| position[key].as_i64().unwrap();
    let positions = found["positions"].as_array().unwrap().iter();
    positions.map(|position| (number(position, "x"), number(position, "z"))).collect()
}

fn select(size: (u32, u32)) {
    let sandbox = map();
    let base = url(&sandbox);
    let page = format!("{base}/index.html");
    let Some(scenario) = Scenario::new("select", &page, size) else { return };
    let seen = scenario.run();
    assert_clean(&seen, &base);
    let rectangle: BTreeSet<(i64, i64)> =
        (-2..=1).flat_map(|x| (-2..=2).map(move |z| (x, z))).collect();
    // The chunks whose middle is inside of the triangle.
    let is_inside = |x: i64, z: i64| {
        let (x, z) = (x * 32 + 16, z * 32 + 16);
        let is_right = (z + 70) * 70 < (x + 70) * 160;
        let is_left = (z - 90) * 80 < (x * -160);
        z > -70 && is_right && is_left
    };
    let all = (-6..=6).flat_map(|x| (-6..=6).map(move |z| (x, z)));
    let lasso: BTreeSet<(i64, i64)> = all.filter(|(x, z)| is_inside(*x, *z)).collect();
    let single = BTreeSet::from([(2, 0), (-1, -1)]);
    for (name, expected) in [("rectangle", rectangle), ("lasso", lasso), ("chunk", single)] {
        let texts = &seen[name];
        assert!(expected.len() > 1);
        let text = texts["text"].as_str().unwrap();
        assert_eq!(selected(&sandbox, text), expected, "{name}: {text}");
        sandbox.file("list.csv", texts["csv"].as_str().unwrap().as_bytes());
        let list = format!("@{}", sandbox.path("list.csv").display());
        assert_eq!(selected(&sandbox, &list), expected, "{name}: {texts}");
        assert_eq!(texts["count"], expected.len(), "{name}");
        let command = texts["command"].as_str().unwrap();
        assert_eq!(command, format!("hyworld select world '{text}'"), "{name}");
    }
    assert_eq!(seen["mode"], true, "Escape ends selecting");
}

#[test]
fn chunks_are_selected_with_a_mouse() {
    select(DESKTOP);
}

#[test]
fn chunks_are_selected_with_a_finger() {
    select(PHONE);
}
