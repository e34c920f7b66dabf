//! Runs the real binary in temporary folders, and checks its output, exit code and files. All tests
//! are in one program so that they can share `run`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod advice;
mod backups;
mod bad_input;
mod bench;
mod block;
mod bombs;
mod browser;
#[cfg(all(feature = "rocksdb", feature = "s3"))]
mod chain;
mod checking;
mod chunk;
mod converting;
mod demo;
mod documents;
mod dumping;
mod fingerprint;
mod generated;
mod in_use;
mod info;
mod killed;
mod killed_verbs;
mod map_folders;
mod map_markers;
mod maps;
mod migrating;
mod mixed_worlds;
mod newer_games;
#[cfg(unix)]
mod outputs;
mod permissions;
mod players;
mod pregen;
mod querying;
mod reading;
mod rebuilding;
mod recovering;
mod repairing;
mod rewriting;
mod run;
mod salvaging;
mod saves;
#[cfg(feature = "serve")]
mod serving;
mod shapes;
mod shown;
mod snapshots;
mod special_files;
mod streams;
mod stress;
mod targets;
mod trimming;
mod undoing;
mod upgrading;
mod upgrading_worlds;
mod verifying;
mod viewer;
mod world;
mod worlds;
mod writing;
