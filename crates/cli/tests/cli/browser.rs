//! Runs `tests/browser.py`, which drives a headless Chromium.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The size of a desktop window.
pub(crate) const DESKTOP: (u32, u32) = (1200, 800);
/// The size of a phone.
pub(crate) const PHONE: (u32, u32) = (390, 800);

/// Returns a program of this name in `PATH`.
fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let paths = names.iter().flat_map(|name| folders.iter().map(move |it| it.join(name)));
    paths.into_iter().find(|path| path.is_file())
}

/// A scenario of `browser.py` that can be run on this machine.
pub(crate) struct Scenario {
    command: Command,
}

impl Scenario {
    /// Prepares a scenario. Returns `None` and says so if there is no browser, unless the variable
    /// `HYWORLD_REQUIRE_BROWSER` is set.
    pub(crate) fn new(name: &str, url: &str, (width, height): (u32, u32)) -> Option<Self> {
        let chromium = program(&["chromium", "chromium-browser", "google-chrome"]);
        let (Some(chromium), Some(python)) = (chromium, program(&["python3"])) else {
            let is_required = std::env::var_os("HYWORLD_REQUIRE_BROWSER").is_some();
            assert!(!is_required, "chromium and python3 are required");
            let text =
                "SKIPPED: chromium or python3 is not installed, so the viewer is not tested\n";
            std::io::stderr().write_all(text.as_bytes()).unwrap();
            return None;
        };
        // For people who want to look at the pages.
        let screenshot = match std::env::var_os("HYWORLD_SCREENSHOTS") {
            Some(folder) => Path::new(&folder).join(format!("{name}-{width}.png")),
            None => PathBuf::from("-"),
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser.py");
        let mut command = Command::new(python);
        command.arg(script).arg(chromium).args([url, name]);
        command.args([width.to_string(), height.to_string()]).arg(screenshot);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Some(Self { command })
    }

    /// Runs it, and returns what it saw.
    pub(crate) fn run(self) -> Value {
        self.run_with(|| ())
    }

    /// Runs it; `change` is called when the scenario prints `ready`.
    pub(crate) fn run_with(mut self, change: impl FnOnce()) -> Value {
        let mut child = self.command.spawn().unwrap();
        let (mut to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut lines = BufReader::new(from).lines();
        let mut line = lines.next();
        if line.as_ref().is_some_and(|line| line.as_ref().unwrap() == "ready") {
            change();
            to.write_all(b"\n").unwrap();
            line = lines.next();
        }
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert!(child.wait().unwrap().success(), "{errors}");
        serde_json::from_str(&line.unwrap().unwrap()).unwrap()
    }
}

/// Asserts that no script failed, and that the page loaded only files below `base`.
pub(crate) fn assert_clean(seen: &Value, base: &str) {
    assert_eq!(seen["problems"], serde_json::json!([]));
    let requests = seen["requests"].as_array().unwrap();
    let urls = requests.iter().map(|url| url.as_str().unwrap());
    let outside: Vec<&str> =
        urls.filter(|url| !url.starts_with(base) && !url.starts_with("data:")).collect();
    assert!(requests.len() > 5 && outside.is_empty(), "{outside:?}");
}
