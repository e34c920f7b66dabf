//! Reads `OPTIONS-NNNNNN`, where `RocksDB` stores the options a database was opened with. The files
//! are text with sections; the newest one is valid.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::CHUNKS_FAMILY;

/// Maximum file size. `RocksDB` writes about 20 KB.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Returns the format of the newest tables of chunks, or `None` if it is unknown.
pub(super) fn table_format_version(folder: &Path) -> Option<i32> {
    let mut text = String::new();
    File::open(newest(folder)?).ok()?.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    let section = format!("TableOptions/BlockBasedTable \"{CHUNKS_FAMILY}\"");
    value(&text, &section, "format_version")?.parse().ok()
}

fn newest(folder: &Path) -> Option<PathBuf> {
    let names =
        folder.read_dir().ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let numbered = names.filter_map(|name| {
        let number: u64 = name.strip_prefix("OPTIONS-")?.parse().ok()?;
        Some((number, name))
    });
    Some(folder.join(numbered.max()?.1))
}

/// Returns the value of a key in a section, as in `[section]` and `key=value`.
fn value<'a>(text: &'a str, section: &str, key: &str) -> Option<&'a str> {
    let heading = |line: &&str| {
        line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) == Some(section)
    };
    let lines = text.lines().map(str::trim);
    let mut lines = lines.skip_while(|line| !heading(line)).skip(1);
    let in_section = lines.by_ref().take_while(|line| !line.starts_with('['));
    in_section
        .filter_map(|line| line.split_once('='))
        .find(|(name, _)| *name == key)
        .map(|(_, v)| v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_testkit::write_file;

    const TEXT: &str = "
# a comment
[Version]
  rocksdb_version=9.8.4
[CFOptions \"default\"]
  format_version=1
[TableOptions/BlockBasedTable \"default\"]
  format_version=2

[TableOptions/BlockBasedTable \"chunks\"]
  checksum=kXXH3
  format_version=6
[Other]
  format_version=3
";

    #[test]
    fn values_are_found_in_their_section() {
        let section = "TableOptions/BlockBasedTable \"chunks\"";
        assert_eq!(value(TEXT, section, "format_version"), Some("6"));
        assert_eq!(value(TEXT, section, "rocksdb_version"), None);
        assert_eq!(value(TEXT, "Version", "format_version"), None);
        assert_eq!(value(TEXT, "None", "format_version"), None);
        assert_eq!(value("", section, "format_version"), None);
    }

    #[test]
    fn the_newest_file_is_used() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(table_format_version(folder.path()), None);
        write_file(&folder.path().join("OPTIONS-000009"), TEXT.replace("=6", "=5").as_bytes());
        assert_eq!(table_format_version(folder.path()), Some(5));
        write_file(&folder.path().join("OPTIONS-000012"), TEXT.as_bytes());
        write_file(&folder.path().join("OPTIONS-000013.dbtmp"), b"");
        assert_eq!(table_format_version(folder.path()), Some(6));
        write_file(&folder.path().join("OPTIONS-1000000"), b"[Version]\n\xff");
        assert_eq!(table_format_version(folder.path()), None);
    }

    #[test]
    fn a_missing_folder_has_no_version() {
        assert_eq!(table_format_version(Path::new("/there/is/no/such/folder")), None);
    }
}
