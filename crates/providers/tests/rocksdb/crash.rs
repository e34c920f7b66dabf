//! Processes killed during a write, and full disks.
//!
//! The other process is this test program, instructed by its environment to run one function.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt, RocksDbOptions, RocksDbStorage};
use hyworld_testkit::Random;

use crate::world;

const FOLDER_VARIABLE: &str = "HYWORLD_TEST_FOLDER";
const MODE_VARIABLE: &str = "HYWORLD_TEST_MODE";
const WRITTEN: &str = "written ";

/// A process that writes chunks and reports each one.
pub(crate) struct Child {
    process: std::process::Child,
    output: BufReader<ChildStdout>,
    /// How many writes it has reported.
    written: u32,
}

impl Child {
    pub(crate) fn start(folder: &Path, mode: &str) -> Self {
        let program = std::env::current_exe().unwrap();
        Self::run(Command::new(program).args(Self::ARGUMENTS), folder, mode)
    }

    const ARGUMENTS: [&str; 4] =
        ["--exact", "crash::child_that_writes", "--ignored", "--nocapture"];

    fn run(command: &mut Command, folder: &Path, mode: &str) -> Self {
        let command = command.env(FOLDER_VARIABLE, folder).env(MODE_VARIABLE, mode);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output, written: 0 }
    }

    /// Waits until `count` chunks were written.
    pub(crate) fn wait_for(&mut self, count: u32) {
        while self.written < count {
            assert!(self.read_line(), "it ended after {} chunks", self.written);
        }
    }

    fn read_line(&mut self) -> bool {
        let mut line = String::new();
        if self.output.read_line(&mut line).unwrap() == 0 {
            return false;
        }
        if let Some(number) = line.trim().strip_prefix(WRITTEN) {
            self.written = number.parse().unwrap();
        }
        true
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }

    /// Kills the process. Returns how many chunks it had written.
    pub(crate) fn kill(&mut self) -> u32 {
        self.process.kill().unwrap();
        self.wait_to_end()
    }

    fn wait_to_end(&mut self) -> u32 {
        while self.read_line() {}
        self.process.wait().unwrap();
        self.written
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        match self.process.kill() {
            // It may have ended already.
            Ok(()) | Err(_) => {}
        }
    }
}

pub(crate) fn position(number: u32) -> ChunkPos {
    let number = i32::try_from(number).unwrap();
    ChunkPos::new(if number % 2 == 0 { number } else { -number }, number % 7 - 3)
}

/// Returns bytes that do not compress, about as many as a chunk has.
fn document(number: u32) -> Vec<u8> {
    Random::new(number.into()).bytes(20_000 + number as usize % 5 * 9_000)
}

/// The other process of the tests: writes until it is killed or a write fails.
#[test]
#[ignore = "the other process of the tests here"]
fn child_that_writes() {
    let folder = std::env::var_os(FOLDER_VARIABLE).unwrap();
    let flush = std::env::var(MODE_VARIABLE).unwrap() == "flush";
    let options = RocksDbOptions::new().flush_on_write(flush);
    let storage = options.open(Path::new(&folder)).unwrap();
    let mut out = std::io::stdout();
    for number in 0.. {
        if let Err(error) = storage.write(position(number), &document(number)) {
            // Written chunks can still be read, and the error has the cause.
            for number in 0..number {
                assert!(storage.read(position(number)).unwrap().unwrap() == document(number));
            }
            writeln!(out, "failed: {error}").unwrap();
            assert!(error.to_string().contains("cannot write: IO error"), "{error}");
            return;
        }
        writeln!(out, "{WRITTEN}{}", number + 1).unwrap();
        out.flush().unwrap();
    }
}

/// Checks that every reported write exists and that all chunks are complete.
fn assert_written(folder: &Path, count: u32) {
    let storage = RocksDbStorage::open(folder).unwrap();
    for number in 0..count {
        let found = storage.read(position(number)).unwrap();
        assert!(found.is_some_and(|found| found == document(number)), "{number} of {count}");
    }
    let found = u32::try_from(storage.all_positions().unwrap().len()).unwrap();
    assert!(found == count || found == count + 1, "{found} instead of {count}");
    for number in count..found {
        assert!(storage.read(position(number)).unwrap().unwrap() == document(number));
    }
    // The storage can be used as before.
    storage.write(position(count), b"after").unwrap();
    storage.compact().unwrap();
    assert_eq!(storage.read(position(count)).unwrap().unwrap(), b"after");
}

#[test]
fn written_chunks_survive_the_end_of_the_process() {
    for (mode, count) in [("flush", 1), ("flush", 120), ("relaxed", 20), ("relaxed", 1200)] {
        let (_world, folder) = world();
        let mut child = Child::start(&folder, mode);
        child.wait_for(count);
        let written = child.kill();
        assert!(written >= count);
        assert_written(&folder, written);
    }
}

#[test]
fn a_database_survives_repeated_kills() {
    let (_world, folder) = world();
    for count in [3, 40, 80, 5, 200] {
        let mut child = Child::start(&folder, "relaxed");
        child.wait_for(count);
        let written = child.kill();
        let storage = RocksDbStorage::open_read_only(&folder).unwrap();
        for number in 0..written {
            assert!(storage.read(position(number)).unwrap().unwrap() == document(number));
        }
    }
}

/// Simulates a full disk with a limit on the length of files.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_loses_no_written_chunk() {
    let (_world, folder) = world();
    let program = std::env::current_exe().unwrap();
    let limit = "trap '' XFSZ; ulimit -f 3000; exec \"$@\"";
    let mut command = Command::new("bash");
    command.args(["-c", limit, "bash"]).arg(program).args(Child::ARGUMENTS);
    let mut child = Child::run(&mut command, &folder, "relaxed");
    let written = child.wait_to_end();
    assert!(child.process.wait().unwrap().success());
    assert!(written > 50 && written < 200, "{written}");
    assert_written(&folder, written);
}
