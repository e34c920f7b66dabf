//! Zips of uncompressed files, so that the fuzzer need not compute checksums.
//!
//! A record is the length of a name in one byte, the length of the contents in two bytes (little
//! endian), the name and the contents.

/// Splits an input into names and contents. The last record may be cut off.
fn records(mut input: &[u8]) -> Vec<(&[u8], &[u8])> {
    let mut records = Vec::new();
    while let [name, low, high, rest @ ..] = input {
        let (name, rest) = rest.split_at(usize::from(*name).min(rest.len()));
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (contents, rest) = rest.split_at(length);
        records.push((name, contents));
        input = rest;
    }
    records
}

/// Builds an input from names and contents.
///
/// # Panics
/// Panics if a name or the contents are too long for a record.
pub fn split(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut input = Vec::new();
    for (name, contents) in files {
        input.push(u8::try_from(name.len()).expect("a short name"));
        input.extend(u16::try_from(contents.len()).expect("a short file").to_le_bytes());
        input.extend([name.as_bytes(), contents].concat());
    }
    input
}

/// Builds the zip of an input.
pub fn join(input: &[u8]) -> Vec<u8> {
    let (mut zip, mut directory, records) = (Vec::new(), Vec::new(), records(input));
    for (name, contents) in &records {
        let length = (contents.len() as u32).to_le_bytes();
        let sums = [checksum(contents).to_le_bytes(), length, length].concat();
        let name_length = (name.len() as u16).to_le_bytes();
        // Version 2.0, no flags, stored, 1980-01-01.
        let common = [&[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0][..], &sums, &name_length, &[0, 0]];
        let common = common.concat();
        let offset = (zip.len() as u32).to_le_bytes();
        zip.extend([b"PK\x03\x04", &common[..], name, contents].concat());
        directory.extend([b"PK\x01\x02\x14\x00", &common[..], &[0; 10], &offset, name].concat());
    }
    let count = (records.len() as u16).to_le_bytes();
    let (length, offset) = (directory.len() as u32, zip.len() as u32);
    let place = [length.to_le_bytes(), offset.to_le_bytes()].concat();
    [&zip[..], &directory, b"PK\x05\x06\0\0\0\0", &count, &count, &place, &[0, 0]].concat()
}

/// The CRC-32 of zips.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 0 { sum >> 1 } else { (sum >> 1) ^ 0xedb8_8320 };
    let add = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), step);
    !bytes.iter().fold(u32::MAX, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_can_be_read() {
        let path = std::env::temp_dir().join(format!("hyworld-zip-{}", std::process::id()));
        let files = [("worlds/w/config.json", &b"{\"a\": 1}"[..]), ("players/p.json", b"{}")];
        std::fs::write(&path, join(&split(&files))).unwrap();
        let mut backup = hyworld_world::Backup::open(&path).unwrap();
        assert_eq!(backup.worlds(), ["w"]);
        assert!(backup.document("worlds/w/config.json").unwrap().is_some());
        std::fs::remove_file(path).unwrap();
    }
}
