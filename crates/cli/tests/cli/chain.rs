//! Converts real worlds from region files to RocksDB, to an object store and back to region files.
//! Each conversion is killed at random moments and continued.

#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hyworld_testkit::seaweedfs::{self, WeedServer};
use hyworld_testkit::{Random, WORLDS, region_files, sha256};

use crate::converting::frames;
use crate::run::Sandbox;

/// How often each conversion of a world is killed, 20 times in total.
const KILLS: [u32; 3] = [7, 7, 6];

/// A sandbox with access to the server.
struct Chain<'a> {
    sandbox: &'a Sandbox,
    server: &'a WeedServer,
    random: Random,
    /// How often a command was killed, and how many final runs continued an unfinished copy.
    killed: u32,
    continued: u32,
}

impl Chain<'_> {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(arguments);
        command.envs(self.server.environment());
        command
    }

    fn output(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn fingerprints(&self, storage: &str) -> String {
        sha256(self.output(&["fingerprint", storage, "--json"]).as_bytes())
    }

    /// Converts to `target(n)` for the first n whose conversion did not complete before its last
    /// kill. Returns that target.
    fn convert(&mut self, source: &str, target: impl Fn(u32) -> String, kills: u32) -> String {
        let complete = target(0);
        let started = Instant::now();
        self.output(&["convert", source, &complete, "-q"]);
        let usual = started.elapsed();
        let mut attempt = 1;
        let mut left = kills;
        while left > 0 {
            let name = target(attempt);
            let moment = usual * self.random.below(700) / 1000;
            if self.is_killed(&["convert", source, &name, "-q"], moment) {
                left -= 1;
            }
            // A target that can be read must be complete.
            if self.command(&["ls", &name]).output().unwrap().status.success() {
                self.output(&["convert", source, &name, "--verify-only"]);
                attempt += 1;
            }
        }
        let name = target(attempt);
        let report = self.output(&["convert", source, &name, "--json"]);
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!((&report["finished"], &report["failed"]), (&true.into(), &0.into()));
        assert_eq!(report["verified"], report["chunks"]);
        self.continued += u32::from(report["already"].as_u64().unwrap() > 0);
        name
    }

    /// Kills the command after `moment`. Returns whether it was still running.
    fn is_killed(&mut self, arguments: &[&str], moment: Duration) -> bool {
        let mut child = self.command(arguments).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(moment);
        child.kill().unwrap();
        let is_killed = !child.wait().unwrap().success();
        self.killed += u32::from(is_killed);
        is_killed
    }
}

#[test]
fn killed_conversions_of_real_worlds_through_all_providers_lose_nothing() {
    if region_files(WORLDS[0]).is_none() || !seaweedfs::is_available() {
        return;
    }
    let server = WeedServer::start();
    let mut continued = 0;
    for (number, world) in (0..).zip(WORLDS) {
        let Some(files) = region_files(world) else { return };
        let source = files[0].parent().unwrap().to_str().unwrap().to_owned();
        let sandbox = Sandbox::new();
        let random = Random::new(number);
        let mut chain =
            Chain { sandbox: &sandbox, server: &server, random, killed: 0, continued: 0 };
        let expected = chain.fingerprints(&source);
        let database = chain.convert(&source, |n| format!("rocksdb:database{n}"), KILLS[0]);
        assert_eq!(chain.fingerprints(&database), expected, "{world}: {database}");
        chain.output(&["verify", &database]);
        let bucket = seaweedfs::BUCKET;
        let objects = chain.convert(&database, |n| format!("s3://{bucket}/{world}/{n}"), KILLS[1]);
        assert_eq!(chain.fingerprints(&objects), expected, "{world}: {objects}");
        chain.output(&["verify", &objects]);
        let back = chain.convert(&objects, |n| format!("back{n}/chunks"), KILLS[2]);
        assert_eq!(chain.fingerprints(&back), expected, "{world}: {back}");
        chain.output(&["verify", &back]);
        assert!(frames(&sandbox, &source) == frames(&sandbox, &back), "{world}: other frames");
        assert_eq!(chain.killed, KILLS.iter().sum::<u32>());
        println!("{world}: killed {} times, {} continued", chain.killed, chain.continued);
        continued += chain.continued;
    }
    assert!(continued > 0, "no run continued an unfinished copy");
}
