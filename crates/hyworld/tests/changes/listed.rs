//! A call of the library that is not in the table fails this test.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::calls::CALLS;
use crate::crate_path;

/// Functions that only pass the options on, or return a change without making one.
const OTHERS: [&str; 2] = ["begin", "explain"];

/// Returns the text of all sources.
fn sources(folder: &Path, texts: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, texts);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            texts.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Returns the names of public functions with their parameters.
fn public_functions(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("pub fn ").skip(1).filter_map(|rest| {
        let (name, rest) = rest.split_once(['(', '<'])?;
        Some((name, rest.split_once('{')?.0))
    })
}

#[test]
fn every_call_that_changes_a_world_is_in_the_table() {
    let mut texts = Vec::new();
    sources(&crate_path("src"), &mut texts);
    let mut found = BTreeSet::new();
    for (file, text) in &texts {
        let plans = text.split("impl Plan for ").skip(1).filter_map(|rest| rest.split(' ').next());
        found.extend(plans.map(str::to_owned));
        for (name, parameters) in public_functions(text) {
            if parameters.contains("&ChangeOptions") && !OTHERS.contains(&name) {
                let is_undo = file == "undo" && name == "apply";
                found.insert(if is_undo { "Undo::apply".to_owned() } else { name.to_owned() });
            }
        }
        // The methods of a change, without those that only describe it.
        if text.contains("impl Change {") {
            let methods = text.split("impl Change {").skip(1).flat_map(public_functions);
            let changing = methods.filter(|(_, parameters)| parameters.contains("&mut self"));
            found.extend(changing.map(|(name, _)| format!("Change::{name}")));
        }
    }
    let covered: BTreeSet<_> = CALLS.iter().flat_map(|call| call.covers).copied().collect();
    let missing: Vec<_> = found.iter().filter(|name| !covered.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "not in the table of `calls.rs`: {missing:?}");
    assert!(found.len() >= 25, "{found:?}");
}
