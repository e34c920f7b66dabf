//! Running the binary in a temporary folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::SystemTime;

use hyworld_indexed_storage::{IndexedStorageFile, Slot};
use hyworld_testkit::{fixture, write_file};
use serde_json::Value;

/// A temporary folder in which commands run.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
}

/// Bytes and modification time of every file, by name.
pub(crate) type State = BTreeMap<PathBuf, (Vec<u8>, SystemTime)>;

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Creates a folder with one fixture of `fixtures/original`.
    pub(crate) fn with(fixture_name: &str, name: &str) -> Self {
        let sandbox = Self::new();
        sandbox.file(name, &fixture(&format!("original/{fixture_name}.region.bin")));
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Creates a file.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) {
        write_file(&self.path(name), bytes);
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Returns the names of all files, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        self.state().into_keys().map(|path| path.to_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn state(&self) -> State {
        let entries = fs::read_dir(self.folder.path()).unwrap().map(Result::unwrap);
        let files = entries.filter(|entry| entry.metadata().unwrap().is_file());
        files
            .map(|entry| {
                let modified = entry.metadata().unwrap().modified().unwrap();
                (entry.file_name().into(), (fs::read(entry.path()).unwrap(), modified))
            })
            .collect()
    }

    /// Returns the document of every occupied slot of a region file.
    pub(crate) fn documents(&self, name: &str) -> BTreeMap<u32, Vec<u8>> {
        let file = IndexedStorageFile::open_read_only(self.path(name)).unwrap();
        let read = |slot: Slot| (slot.get(), file.read(slot).unwrap().unwrap());
        file.occupied().into_iter().map(read).collect()
    }

    /// Returns a command that runs the binary in this folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hyworld"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Runs `hyworld` with these arguments.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::of(arguments, &self.command(arguments).output().unwrap())
    }

    /// Runs `hyworld` with `input` on stdin.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &[u8]) -> Run {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        Run::of(arguments, &child.wait_with_output().unwrap())
    }
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Run {
    what: String,
    pub(crate) code: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Run {
    pub(crate) fn of(arguments: &[&str], output: &Output) -> Self {
        Self {
            what: arguments.join(" "),
            code: output.status.code().unwrap(),
            out: output.stdout.clone(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }

    /// Asserts the exit code. The panic message has both outputs.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        let (out, err) = (String::from_utf8_lossy(&self.out), &self.err);
        assert_eq!(self.code, code, "{}\nstdout: {out}\nstderr: {err}", self.what);
        self
    }

    /// Asserts exit code 0, and returns stdout.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        self.ends(0).text().to_owned()
    }

    /// Asserts that the command failed with this exit code, an empty stdout and one line on stderr.
    /// Returns that line without the name of the program.
    #[track_caller]
    pub(crate) fn fails(self, code: i32) -> String {
        let run = self.ends(code);
        assert_eq!(run.text(), "", "{}: stdout", run.what);
        let line = run.err.strip_suffix('\n').unwrap_or_default();
        assert!(!line.contains('\n') && !line.is_empty(), "{}: {:?}", run.what, run.err);
        line.strip_prefix("hyworld: ").unwrap().to_owned()
    }

    /// Parses stdout as one JSON object.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let mut lines = self.json_lines();
        assert_eq!(lines.len(), 1, "{}: {}", self.what, self.text());
        lines.remove(0)
    }

    /// Parses stdout as one JSON object per line.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Returns the keys of an object, in order.
pub(crate) fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}
