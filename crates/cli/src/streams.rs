//! Reads documents from files and stdin, and writes them to files and stdout.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use anyhow::Context;
use hyworld::{OutputKind, check_output};
use hyworld_indexed_storage::Error;
use hyworld_indexed_storage::limits::BLOB_BYTES_MAX;

use crate::exit;
use crate::output::{Console, advice, text};

/// Returns whether a path argument stands for stdin or stdout.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns the name of an input for error messages.
pub(crate) fn source_name(path: &Path) -> String {
    if is_stream(path) { "stdin".to_owned() } else { path.display().to_string() }
}

/// Reads a file or stdin, at most as many bytes as the largest blob may have.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let name = source_name(path);
    let mut bytes = Vec::new();
    let limit = u64::from(BLOB_BYTES_MAX);
    let taken = if is_stream(path) {
        io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
    };
    let taken = taken.with_context(|| format!("{name}: cannot read"))?;
    if taken as u64 > limit {
        let limit = text::thousands(limit);
        let message = format!("{name}: larger than {limit} bytes, the maximum for a blob");
        return Err(exit::problem(message));
    }
    Ok(bytes)
}

/// Adds advice on where to find another copy of a blob.
pub(crate) fn salvageable(error: Error) -> anyhow::Error {
    match error {
        Error::Damaged { ref path, .. } => exit::advise(&error, &advice::older_copy(path)),
        other => other.into(),
    }
}

/// Writes bytes to stdout, unless that is a terminal and the bytes are binary.
pub(crate) fn write_to_stdout(
    console: &mut Console,
    bytes: &[u8],
    force: bool,
) -> anyhow::Result<()> {
    if !force && io::stdout().is_terminal() && !is_text(bytes) {
        let size = text::count(bytes.len() as u64, "byte");
        return Err(exit::usage(format!(
            "{size} of binary data are not written to a terminal; use -o FILE, or -o - to force it"
        )));
    }
    console.write_all(bytes)?;
    Ok(())
}

/// Creates the file `path`, which must not exist or be inside a world.
pub(crate) fn write_to_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    check_output(path, OutputKind::Document)?;
    File::create_new(path)
        .and_then(|mut file| file.write_all(bytes))
        .with_context(|| format!("{}: cannot write", path.display()))
}

fn is_text(bytes: &[u8]) -> bool {
    let shown = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    std::str::from_utf8(bytes).is_ok_and(|text| text.chars().all(shown))
}
