use hyworld_documents::Value;

use hyworld_files::MemoryFileSystem;

use super::*;

const PATH: &str = "world/config.json";
const RULES: [FallbackRule; 3] =
    [FallbackRule::Config, FallbackRule::Player, FallbackRule::Resource];

fn document(number: i32) -> Document {
    let mut document = Document::new();
    document.set("Number", Value::Int32(number));
    document.set("Long", Value::String("x".repeat(50)));
    document
}

fn file(files: &MemoryFileSystem, rule: FallbackRule) -> JsonFile<'_> {
    JsonFile::new(files, PATH, rule).with_legacy("world/config.bson")
}

fn put(files: &MemoryFileSystem, name: &str, text: &str) {
    files.write(&Path::new("world").join(name), text.as_bytes()).unwrap();
}

#[test]
fn a_file_is_replaced_and_its_old_contents_are_kept() {
    for rule in RULES {
        let files = MemoryFileSystem::new();
        let file = file(&files, rule);
        assert!(file.save(&document(1)).unwrap());
        assert!(file.load_backup().is_err());
        assert!(file.save(&document(2)).unwrap());
        assert!(!file.save(&document(2)).unwrap(), "nothing changed");
        let loaded = file.load().unwrap();
        assert_eq!(loaded, Loaded { document: document(2), from: LoadedFrom::File });
        assert_eq!(file.load_backup().unwrap(), document(1));
        let names = files.list(Path::new("world")).unwrap();
        let names: Vec<_> = names.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["config.json", "config.json.bak"]);
    }
}

/// Saves a new document over an old one, stops after each step in turn, and passes every possible
/// state to `check`.
fn each_crash(rule: FallbackRule, check: impl Fn(u32, &JsonFile<'_>)) -> u32 {
    for steps in 0.. {
        let files = MemoryFileSystem::new();
        file(&files, rule).save(&document(1)).unwrap();
        file(&files, rule).save(&document(2)).unwrap();
        files.stop_after(steps);
        let saved = file(&files, rule).save(&document(3));
        check(steps, &file(&files.after_kill(), rule));
        for state in files.after_power_cut() {
            if saved.is_ok() {
                let loaded = file(&state, rule).load().unwrap();
                assert_eq!(loaded.document, document(3), "the saved document is durable");
            }
            check(steps, &file(&state, rule));
        }
        if saved.is_ok() {
            return steps;
        }
    }
    0
}

#[test]
fn a_crash_at_any_step_leaves_the_old_or_the_new_contents() {
    for rule in RULES {
        let steps = each_crash(rule, |steps, file| {
            let loaded = file.load().unwrap();
            assert_eq!(loaded.from, LoadedFrom::File, "{rule:?} after {steps} steps");
            let is_known = [document(2), document(3)].contains(&loaded.document);
            assert!(is_known, "{rule:?} after {steps} steps: {:?}", loaded.document);
            let backup = file.load_backup().unwrap();
            assert!([document(1), document(2)].contains(&backup), "{steps}: {backup:?}");
        });
        assert_eq!(steps, 7, "write, sync; write, sync, rename; rename; sync");
    }
}

#[test]
fn a_file_can_be_saved_again_after_a_crash() {
    each_crash(FallbackRule::Config, |_, file| {
        file.save(&document(4)).unwrap();
        assert_eq!(file.load().unwrap().document, document(4));
    });
}

#[test]
fn an_interrupted_first_save_leaves_no_file_or_a_complete_one() {
    for steps in 0..5 {
        let files = MemoryFileSystem::new();
        files.stop_after(steps);
        let saved = file(&files, FallbackRule::Config).save(&document(1));
        assert_eq!(saved.is_ok(), steps == 4);
        for state in files.after_power_cut() {
            let loaded = file(&state, FallbackRule::Config).load().unwrap();
            let is_new = loaded.from == LoadedFrom::File && loaded.document == document(1);
            let is_nothing = loaded.from == LoadedFrom::Nothing { problem: TextProblem::Missing };
            assert!(is_new || is_nothing, "{steps}: {loaded:?}");
        }
    }
}

#[test]
fn a_crash_of_the_game_that_leaves_only_a_backup_is_handled() {
    let files = MemoryFileSystem::new();
    put(&files, "config.json.bak", "{\"A\": 1}");
    put(&files, "config.json.tmp", "{\"A\": 2}");
    let problem = TextProblem::Missing;
    for rule in [FallbackRule::Config, FallbackRule::Player] {
        let loaded = file(&files, rule).load().unwrap();
        assert_eq!(loaded.from, LoadedFrom::Backup { problem: problem.clone() });
        assert_eq!(loaded.document.get("A"), Some(&Value::Int32(1)));
    }
    let loaded = file(&files, FallbackRule::Resource).load().unwrap();
    assert_eq!(loaded.from, LoadedFrom::Nothing { problem });
}

/// Returns the source for a file and a backup: `F`ile, `L`egacy, `B`ackup, `N`othing or an `E`rror.
fn source(rule: FallbackRule, text: Option<&str>, backup: Option<&str>) -> char {
    let files = MemoryFileSystem::new();
    for (name, text) in [("config.json", text), ("config.json.bak", backup)] {
        if let Some(text) = text {
            put(&files, name, text);
        }
    }
    match file(&files, rule).load().map(|loaded| loaded.from) {
        Ok(LoadedFrom::File) => 'F',
        Ok(LoadedFrom::Legacy { .. }) => 'L',
        Ok(LoadedFrom::Backup { .. }) => 'B',
        Ok(LoadedFrom::Nothing { .. }) => 'N',
        Err(_) => 'E',
    }
}

#[test]
fn fallbacks_follow_the_table() {
    let texts = [None, Some(""), Some("{\"A\": "), Some("{}")];
    // One row for each text of the file, with one letter for each text of the backup: which of
    // them is used.
    let expected = [
        (FallbackRule::Config, ["NEEB", "EEEB", "EEEB", "FFFF"]),
        (FallbackRule::Player, ["NNEB", "NNEB", "NNEB", "FFFF"]),
        (FallbackRule::Resource, ["NNNN", "NNNN", "NNNN", "FFFF"]),
    ];
    for (rule, rows) in expected {
        for (text, row) in texts.into_iter().zip(rows) {
            let found: String = texts.map(|backup| source(rule, text, backup)).iter().collect();
            assert_eq!(found, row, "{rule:?} {text:?}");
        }
    }
}

#[test]
fn a_damaged_file_does_not_replace_a_good_backup() {
    let files = MemoryFileSystem::new();
    put(&files, "config.json", "{\"A\": ");
    put(&files, "config.json.bak", "{\"A\": 1}");
    let file = file(&files, FallbackRule::Config);
    file.save(&document(2)).unwrap();
    assert_eq!(file.load().unwrap().document, document(2));
    assert_eq!(file.load_backup().unwrap().get("A"), Some(&Value::Int32(1)));
}

#[test]
fn the_old_name_is_used_until_the_file_is_saved() {
    let files = MemoryFileSystem::new();
    put(&files, "config.bson", "{\"Old\": 1}");
    put(&files, "config.json.bak", "{\"Older\": 1}");
    let file = file(&files, FallbackRule::Config);
    let loaded = file.load().unwrap();
    assert_eq!(loaded.from, LoadedFrom::Legacy { path: "world/config.bson".into() });
    let steps = files.steps();
    file.load().unwrap();
    assert_eq!(files.steps(), steps, "reading changes nothing");
    file.save(&document(2)).unwrap();
    assert_eq!(file.load_backup().unwrap(), loaded.document);
    assert!(files.read(Path::new("world/config.bson"), 100).is_err());
}

#[test]
fn a_removed_file_is_not_restored() {
    for steps in 0..7 {
        let files = MemoryFileSystem::new();
        let file = file(&files, FallbackRule::Player);
        file.save(&document(1)).unwrap();
        file.save(&document(2)).unwrap();
        files.stop_after(steps);
        let removed = file.remove();
        let after = files.after_kill();
        let loaded = JsonFile::new(&after, PATH, FallbackRule::Player).load().unwrap();
        assert_ne!(loaded.document, document(1), "the backup");
        assert_eq!(removed.is_ok(), loaded.document == Document::new() && steps > 5);
    }
    let files = MemoryFileSystem::new();
    assert!(!file(&files, FallbackRule::Player).remove().unwrap());
}
