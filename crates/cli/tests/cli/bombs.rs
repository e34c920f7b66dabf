//! Every command processes a small region file whose blobs decompress to gigabytes in little
//! memory.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hyworld_indexed_storage::{EncodedBlob, IndexedStorageFile, OpenOptions, Slot};

use crate::run::Sandbox;

const BLOBS: u32 = 32;
const RAW_BYTES: u32 = 250_000_000;
const PART_BYTES: u32 = RAW_BYTES / 25;
pub(crate) const MEMORY_MAX: u64 = 512_000_000;

/// The limit of the address space of a command. A command that needs more is aborted.
const ADDRESS_KILOBYTES: u64 = 4_000_000;

/// Writes a region file of 32 blobs, each of 25 frames of zeros after the bytes `first`.
fn write_bombs(sandbox: &Sandbox, name: &str, first: &[u8]) {
    let mut zeros = vec![0; PART_BYTES as usize];
    let part = EncodedBlob::compress(&zeros, 3).unwrap();
    zeros.get_mut(..first.len()).unwrap().copy_from_slice(first);
    let mut frames = EncodedBlob::compress(&zeros, 3).unwrap().frames().to_vec();
    for _ in 1..25 {
        frames.extend(part.frames());
    }
    let blob = EncodedBlob::from_frames(RAW_BYTES, &frames).unwrap();
    fs::create_dir_all(sandbox.path(name)).unwrap();
    let path = sandbox.path(name).join("0.0.region.bin");
    let file: IndexedStorageFile = OpenOptions::new().write(true).create(true).open(&path).unwrap();
    for slot in 0..BLOBS {
        file.write_encoded(&[(Slot::new(slot), &blob)]).unwrap();
    }
    file.sync().unwrap();
    assert!(file.file_bytes().unwrap() < 800_000);
}

/// Returns the peak memory of a running process.
pub(crate) fn peak(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(1024 * line.trim().trim_end_matches(" kB").parse::<u64>().ok()?)
}

fn run_bounded(sandbox: &Sandbox, arguments: &[&str], codes: &[i32]) {
    let binary = env!("CARGO_BIN_EXE_hyworld");
    let script = format!("ulimit -v {ADDRESS_KILOBYTES} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, binary]).args(arguments).current_dir(sandbox.path(""));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    let status = loop {
        most = peak(&child).unwrap_or(0).max(most);
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(3)),
        }
    };
    assert!(status.code().is_some_and(|code| codes.contains(&code)), "{arguments:?}: {status}");
    assert!(most < MEMORY_MAX, "{arguments:?}: {most} bytes");
    assert!(most > 1_000_000, "{arguments:?}: memory could not be measured");
}

#[test]
fn every_command_survives_decompression_bombs() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let sandbox = Sandbox::new();
    write_bombs(&sandbox, "bombs", b"");
    run_bounded(&sandbox, &["verify", "bombs", "-j", "8"], &[1]);
    run_bounded(&sandbox, &["info", "bombs", "-j", "8"], &[1]);
    run_bounded(&sandbox, &["fingerprint", "bombs", "-j", "8"], &[1]);
    run_bounded(&sandbox, &["dump", "bombs", "-j", "8"], &[1]);
    run_bounded(&sandbox, &["region", "verify", "bombs/0.0.region.bin", "-j", "8"], &[0]);
    run_bounded(&sandbox, &["convert", "bombs", "copy/chunks", "-j", "8"], &[0]);
    run_bounded(&sandbox, &["convert", "bombs", "anew/chunks", "--recompress", "-j", "8"], &[0]);
    run_bounded(&sandbox, &["convert", "bombs", "anew", "--verify-only", "-j", "8"], &[0]);
}

/// The documents can be decoded: each is one huge, unknown component.
#[test]
fn huge_documents_are_decoded_without_a_copy() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let sandbox = Sandbox::new();
    let length = |bytes: u32| bytes.to_le_bytes();
    // {"Components": {"mod:Huge": {"Data": binary}}}; the terminators are zeros too.
    let mut document = length(RAW_BYTES).to_vec();
    document.extend(b"\x03Components\0");
    document.extend(length(RAW_BYTES - 17));
    document.extend(b"\x03mod:Huge\0");
    document.extend(length(RAW_BYTES - 17 - 15));
    document.extend(b"\x05Data\0");
    document.extend(length(RAW_BYTES - 17 - 15 - 16));
    document.push(0);
    write_bombs(&sandbox, "huge", &document);
    run_bounded(&sandbox, &["verify", "huge", "-j", "8"], &[1]);
    run_bounded(&sandbox, &["info", "huge", "-j", "8"], &[0]);
    run_bounded(&sandbox, &["fingerprint", "huge", "-j", "8"], &[0, 1]);
}

#[test]
fn queries_survive_decompression_bombs() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let sandbox = Sandbox::new();
    write_bombs(&sandbox, "bombs", b"");
    run_bounded(&sandbox, &["stats", "bombs", "-j", "8"], &[1]);
    run_bounded(&sandbox, &["find", "bombs", "--block", "*", "--item", "*", "-j", "8"], &[1]);
    run_bounded(&sandbox, &["select", "bombs", "block = Rock OR item", "-j", "8"], &[1]);
}
