//! Parses arbitrary bytes as a manifest. One that is accepted is written and read again.
//!
//! The first byte of an input is a choice. If it is odd, the rest is a whole manifest. Otherwise
//! the rest is a manifest without its last line, which is added with the right counts and digest.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hyworld_maintenance::Manifest;
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};

/// The file of this process; name the fastest disk with TMPDIR.
static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("manifest-{}", std::process::id())));

fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let bytes = if choice % 2 == 0 { complete(rest) } else { rest.to_vec() };
    let Ok(manifest) = Manifest::parse(Path::new("m"), bytes.as_slice()) else { return };
    manifest.write(&FILE).expect("the disk works");
    assert!(Manifest::is_at(&FILE));
    assert!(Manifest::read(&FILE).expect("just written") == manifest);
});

fn complete(lines: &[u8]) -> Vec<u8> {
    let count = |kind: &str| {
        let start = format!(r#"{{"type":"{kind}","#);
        lines.split(|byte| *byte == b'\n').filter(|it| it.starts_with(start.as_bytes())).count()
    };
    let digest: String = Sha256::digest(lines).iter().map(|byte| format!("{byte:02x}")).collect();
    let [files, regions, chunks] = ["file", "region", "chunk"].map(count);
    let counts = format!(r#""files":{files},"regions":{regions},"chunks":{chunks}"#);
    let end = format!(r#"{{"type":"end",{counts},"sha256":"{digest}"}}"#);
    [lines, end.as_bytes(), b"\n"].concat()
}
