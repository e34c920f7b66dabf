//! Checks the worked examples of `docs/format/container.md`: they open, and they equal the bytes
//! that the code writes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use hyworld_indexed_storage::{
    Durability, FormatVersion, Geometry, IndexedStorageFile, MemoryFile, OpenOptions, Slot,
};
use hyworld_testkit::V0Writer;

fn container_md() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/format/container.md");
    std::fs::read_to_string(path).unwrap()
}

/// Parses the hex dump in the fenced block that begins with `title`.
fn dump(title: &str) -> Vec<u8> {
    let text = container_md();
    let block = text.split("```text").find(|block| block.lines().nth(1) == Some(title));
    let lines = block.unwrap().lines().take_while(|line| !line.starts_with("```"));
    let hex = lines.filter(|line| line.starts_with("00000")).flat_map(|line| {
        let bytes = line.split_once(':').unwrap().1.split('|').next().unwrap();
        bytes.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap())
    });
    hex.collect()
}

fn to_dump(bytes: &[u8]) -> String {
    let row = |(number, row): (usize, &[u8])| {
        let hex: Vec<_> = row.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = row.iter().map(|byte| if (32..127).contains(byte) { *byte } else { b'.' });
        let text = String::from_utf8(text.collect()).unwrap();
        format!("{:08x}: {:47} | {text}\n", number * 16, hex.join(" "))
    };
    bytes.chunks(16).enumerate().map(row).collect()
}

fn check(title: &str, expected: &[u8], version: FormatVersion) {
    let documented = dump(title);
    assert!(documented == expected, "{title} should be:\n{}", to_dump(expected));
    let memory = Box::new(MemoryFile::new(documented));
    let file = OpenOptions::new().open_raw(memory, "documented").unwrap();
    assert_eq!(file.version(), version);
    assert_eq!(read(&file, 1).as_deref(), Some(b"hello".as_slice()));
    assert_eq!(read(&file, 3), Some(b"0123456789abcdefghijklmnop".to_vec()));
    assert_eq!((read(&file, 0), read(&file, 2)), (None, None));
}

fn read(file: &IndexedStorageFile, slot: u32) -> Option<Vec<u8>> {
    file.read(Slot::new(slot)).unwrap()
}

#[test]
fn the_version_1_example_equals_the_written_bytes() {
    let memory = Arc::new(MemoryFile::default());
    let options = OpenOptions::new().write(true).create(true).durability(Durability::EachWrite);
    let options = options.geometry(Geometry::new(4, 32).unwrap());
    let file = options.open_raw(Box::new(Arc::clone(&memory)), "memory").unwrap();
    file.write(Slot::new(3), b"0123456789abcdefghijklmnop").unwrap();
    file.write(Slot::new(1), b"hello").unwrap();
    check("v1", &memory.to_vec(), FormatVersion::V1);
}

#[test]
fn the_version_0_example_equals_the_bytes_of_a_version_0_writer() {
    let mut writer = V0Writer::new(4, 32);
    writer.append(3, b"0123456789abcdefghijklmnop");
    writer.append(1, b"hello");
    check("v0", &writer.bytes, FormatVersion::V0);
}
