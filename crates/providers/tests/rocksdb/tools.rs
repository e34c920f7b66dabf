//! Other programs that use `RocksDB` can read the databases, if they are installed.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use hyworld_coords::ChunkPos;

use crate::{document, files, flushed, world};

/// Runs a tool of `RocksDB`. Prints a message and returns `None` if it is not installed.
fn run(tool: &str, arguments: &[&str], folder: &Path) -> Option<String> {
    let Ok(output) = Command::new(tool).args(arguments).current_dir(folder).output() else {
        let message = format!("SKIPPED: {tool} is not installed (Debian: rocksdb-tools)\n");
        std::io::stderr().write_all(message.as_bytes()).unwrap();
        return None;
    };
    assert!(output.status.success(), "{tool} {arguments:?}: {output:?}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Debian has version 7.8.3, much older than the library in this program.
#[test]
fn the_tools_of_rocksdb_can_read_the_databases() {
    let (_world, folder) = world();
    let positions = flushed(&folder);
    let Some(families) = run("ldb", &["--db=.", "list_column_families"], &folder) else { return };
    assert!(families.contains("default, chunks"), "{families}");
    let ldb = |command: &[&str]| {
        // It uses the options of the database and does not know all of them.
        let options = ["--db=.", "--column_family=chunks", "--hex", "--ignore_unknown_options"];
        run("ldb", &[&options, command].concat(), &folder).unwrap()
    };
    let hex = document(ChunkPos::new(-2, 3)).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02X}").unwrap();
        hex
    });
    assert_eq!(ldb(&["get", "0xFFFFFFFE00000003"]).trim(), format!("0x{hex}"));
    assert_eq!(ldb(&["scan"]).lines().count(), positions.len());
    let table = files(&folder, ".sst").pop().unwrap();
    let argument = format!("--file={}", table.display());
    let Some(text) = run("sst_dump", &[&argument, "--command=check"], &folder) else { return };
    assert!(text.contains("from [] to []"), "{text}");
}
