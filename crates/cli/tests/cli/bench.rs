//! `bench`: consistent numbers, and no files left.

use hyworld_testkit::fixture;

use crate::run::{Sandbox, keys};

#[test]
fn measurements_are_consistent_and_leave_no_files() {
    let sandbox = Sandbox::with("v1/multiseg", "0.0.region.bin");
    let before = sandbox.names();
    let command =
        ["bench", "region", "0.0.region.bin", "--rounds", "1", "--scratch", ".", "--json"];
    let object = sandbox.run(&command).json();
    assert_eq!(sandbox.names(), before);
    assert_eq!(object["blobs"], 8);
    assert_eq!(keys(&object["one"]), keys(&object["all"]));
    for passes in ["one", "all"] {
        let number = |key: &str| object[passes][key].as_f64().unwrap();
        assert!(number("raw_decompress_us") > 0.0 && number("write_relaxed_us") > 0.0);
        let ratio = number("read_us") / number("raw_decompress_us");
        assert!((number("read_ratio") / ratio - 1.0).abs() < 0.5, "{object}");
    }
    let text = sandbox.run(&["bench", "region", "0.0.region.bin", "--rounds", "1"]).ok();
    for part in ["8 blobs", "zstd decompresses", "write, relaxed", "p99"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_file_without_blobs_cannot_be_measured() {
    let sandbox = Sandbox::with("v1/empty", "0.0.region.bin");
    let error = sandbox.run(&["bench", "region", "0.0.region.bin"]).fails(3);
    assert_eq!(error, "0.0.region.bin: cannot measure: the file has no blobs");
}

#[test]
fn decoding_is_compared_with_decompression() {
    let sandbox = Sandbox::new();
    sandbox.file("0.0.region.bin", &fixture("original/chunks/synthetic_v6.region.bin"));
    let object = sandbox.run(&["bench", "chunk", ".", "--rounds", "1", "--json"]).json();
    assert_eq!((&object["chunks"], &object["raw"]), (&3.into(), &722_704.into()));
    for pass in keys(&object["ratios"]) {
        let number = |key: &str| object[key].as_f64().unwrap();
        let ratio = number(&format!("{pass}_us")) / number("decompress_us");
        let stated = object["ratios"][&pass].as_f64().unwrap();
        assert!(ratio > 0.0 && (stated / ratio - 1.0).abs() < 0.1, "{pass}: {object}");
    }
    let text = sandbox.run(&["bench", "chunk", "0.0.region.bin", "--rounds", "1"]).ok();
    for part in ["3 chunks, 705.7 KiB", "zstd decompresses", "read, decode all components"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn providers_are_compared_with_region_files() {
    let sandbox = Sandbox::new();
    sandbox.file("0.0.region.bin", &fixture("original/chunks/synthetic_v6.region.bin"));
    let before = sandbox.names();
    let arguments = ["bench", "providers", ".", "--rounds", "1", "--scratch", ".", "--json"];
    let object = sandbox.run(&arguments).ends(0).json();
    assert_eq!(sandbox.names(), before);
    let first = &object["providers"][0];
    assert_eq!((&first["provider"], &first["write_ratio"]), (&"region files".into(), &1.0.into()));
    assert!(first["stored"].as_u64().unwrap() > 4096);
    assert!(object["convert"]["ratio"].as_f64().unwrap() > 0.0);
    let text = sandbox.run(&["bench", "providers", ".", "--rounds", "1", "--chunks", "2"]).ok();
    assert!(text.contains(".: 2 chunks, ") && text.contains("region files"), "{text}");
}

#[test]
fn the_cost_of_a_chunk_is_measured_at_the_start_and_end_of_a_copy() {
    let sandbox = Sandbox::new();
    let arguments = ["bench", "providers", "--scale", "3000", "--scratch", "."];
    let object = sandbox.run(&[&arguments[..], &["--json"]].concat()).ends(0).json();
    assert_eq!(object["chunks"], 3000);
    assert_eq!(object["providers"][0]["provider"], "region files");
    assert!(object["providers"][0]["copy"]["first_tenth_us"].is_u64(), "{object}");
    assert!(sandbox.run(&arguments).ok().contains("last tenth"));
    assert!(sandbox.names().is_empty(), "all created files are removed");
    sandbox.run(&["bench", "providers"]).ends(2);
}

#[test]
fn a_chunk_that_cannot_be_decoded_cannot_be_measured() {
    let sandbox = Sandbox::with("v1/multiseg", "0.0.region.bin");
    let error = sandbox.run(&["bench", "chunk", "0.0.region.bin"]).fails(3);
    assert!(error.starts_with("0.0.region.bin: "), "{error}");
}

#[test]
fn measuring_the_store_leaves_no_files() {
    let sandbox = Sandbox::new();
    sandbox.file("0.0.region.bin", &fixture("original/chunks/synthetic_v6.region.bin"));
    let before = sandbox.state();
    let arguments = ["bench", "store", ".", "--rounds", "1", "--scratch", ".", "--walk-chunks"];
    let object = sandbox.run(&[&arguments[..], &["700", "--json"]].concat()).ends(0).json();
    assert_eq!(sandbox.state(), before);
    assert_eq!((&object["chunks"], &object["raw"]), (&3.into(), &722_704.into()));
    for pass in ["load", "save"] {
        let number = |key: &str| object[pass][key].as_f64().unwrap();
        assert!(number("raw_us") > 0.0 && number("store_us") > 0.0, "{object}");
        let ratio = number("store_us") / number("raw_us");
        assert!((number("ratio") / ratio - 1.0).abs() < 0.1, "{pass}: {object}");
    }
    assert_eq!(object["latency"], serde_json::Value::Null, "3 chunks are too few");
    let walk = |key: &str| object["walk"][key].as_u64().unwrap();
    assert!(walk("chunks") >= 700 && walk("in_memory_max") < walk("chunks"), "{object}");
    assert!(walk("in_memory_max") <= walk("in_memory_bound"), "{object}");
    assert!(!cfg!(target_os = "linux") || walk("resident_max") <= walk("resident_bound"));
}

#[test]
fn loads_are_measured_during_saves() {
    let sandbox = crate::generated::world("Flat", false);
    sandbox.run(&["pregen", "world", "--radius", "5"]).ends(0);
    let options = ["--rounds", "1", "--latency-seconds", "0.7", "--walk-chunks", "0"];
    let command = [&["bench", "store", "world"], &options[..]].concat();
    let object = sandbox.run(&[&command[..], &["--json"]].concat()).ends(0).json();
    assert_eq!((&object["chunks"], &object["walk"]), (&121.into(), &serde_json::Value::Null));
    let latency = |key: &str| object["latency"][key].as_f64().unwrap();
    assert!(latency("loads") > 0.0 && latency("p50_us") <= latency("p99_us"), "{object}");
    let text = sandbox.run(&[&command[..], &["--chunks", "110"]].concat()).ok();
    for part in ["110 chunks", "load through the store", "saves per second: p50"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}
