//! Samples of the JSON output of every command, such that each key occurs with each of its types.

use std::fs;

use hyworld_testkit::{V0Writer, fixture};
use serde_json::{Value, json};

use crate::run::Sandbox;
use crate::{generated, players, repairing, saves, upgrading_worlds, world};

/// The command, and its output in one or more blocks.
pub(super) type Samples = Vec<(&'static str, Vec<Vec<Value>>)>;

pub(super) fn all() -> Samples {
    let mut samples = Vec::new();
    samples.extend(worlds());
    samples.push(("saves", vec![saves::found(&["--json"]).json_lines()]));
    samples.extend(players());
    samples.extend(regions());
    samples.extend(chunks());
    samples.extend(queries());
    samples.extend(storages());
    samples.extend(health());
    samples.extend(running());
    samples.extend(benches());
    samples
}

/// Runs commands, given as words separated by spaces, with `--json`.
fn lines(sandbox: &Sandbox, commands: &[&str]) -> Vec<Value> {
    let run = |command: &&str| {
        let words: Vec<&str> = command.split(' ').chain(["--json"]).collect();
        let run = sandbox.run(&words);
        assert!(run.code < 2 && !run.out.is_empty(), "{command}: {run:?}");
        run.json_lines()
    };
    commands.iter().flat_map(run).collect()
}

/// Adds a copy of a sample with changed values, for output that occurs only on other systems or in
/// situations that the test cannot create.
fn also(lines: &mut Vec<Value>, number: usize, values: &[(&str, Value)]) {
    let mut sample = lines[number].clone();
    for (pointer, value) in values {
        *sample.pointer_mut(pointer).unwrap_or_else(|| unreachable!("{pointer}")) = value.clone();
    }
    lines.push(sample);
}

/// Adds samples of the other files of a save.
fn also_others(info: &mut Vec<Value>, names: &Value) {
    let other = |what: Value| json!({"name": "text", "what": what, "files": 1, "bytes": 1});
    let others = json!([other(Value::Null), other("text".into())]);
    let keys = ["/universe/others_in_save", "/universe/others", "/worlds/0/others"];
    also(info, 0, &keys.map(|key| (key, others.clone())));
    let keys = ["/universe/resources", "/worlds/0/paths"];
    also(info, 0, &keys.map(|key| (key, names.clone())));
}

fn worlds() -> Samples {
    let sandbox = Sandbox::new();
    let create = [
        "world create universe one --generator flat --seed 5 --display-name One",
        "world create universe two",
        "world create universe three --dry-run",
    ];
    let create = lines(&sandbox, &create);
    let config = sandbox.path("universe/worlds/two/config.json");
    let text = fs::read_to_string(&config).unwrap().replacen('{', "{\"Own\": 1,", 1);
    let text = text.replace("\"IsTicking\": true", "\"IsTicking\": false");
    hyworld_testkit::write_file(&config, text.as_bytes());
    sandbox.run(&["pregen", "universe/worlds/one", "--radius", "0"]).ends(0);
    fs::create_dir_all(sandbox.path("universe/worlds/broken")).unwrap();
    sandbox.file("universe/worlds/broken/config.json", b"{");
    fs::create_dir_all(sandbox.path("backup")).unwrap();
    crate::info::backup(&sandbox, "backup/2026-03-26_18-05-00.zip");
    let spawn = "{\"Version\": 4, \"UUID\": {\"$binary\": \"AAECAwQFBgcICQoLDA0ODw==\", \
                 \"$type\": \"04\"}, \"GameMode\": \"Creative\", \"SpawnProvider\": {\"Id\": \
                 \"Global\", \"SpawnPoint\": {\"X\": 1.5, \"Y\": 2.5, \"Z\": 3.5}}}";
    fs::create_dir_all(sandbox.path("universe/worlds/spawn")).unwrap();
    sandbox.file("universe/worlds/spawn/config.json", spawn.as_bytes());
    let mut list = lines(&sandbox, &["world list universe"]);
    let info =
        ["info universe", "info universe/worlds/one --fast", "info universe/worlds/one/chunks"];
    let mut info = lines(&sandbox, &info);
    let (null, names) = (Value::Null, json!(["a name"]));
    let migrates = json!({"Type": "RocksDb"});
    let world = |key: &str| format!("/worlds/0/{key}");
    also(
        &mut info,
        1,
        &[
            (&world("writer"), "a program".into()),
            (&world("pending_provider"), migrates.clone()),
            (&world("collides_with"), names.clone()),
            (&world("storage/regions"), null.clone()),
            (&world("config/uuid"), null.clone()),
            (&world("config/spawn"), json!({"id": null, "x": null, "y": null, "z": null})),
            (&world("config/world_gen"), null.clone()),
            (&world("config/world_map"), null.clone()),
        ],
    );
    also(&mut info, 0, &[("/universe/backups/newest", null.clone())]);
    also_others(&mut info, &names);
    also(
        &mut list,
        0,
        &[("/pending_provider", migrates), ("/chunks", null.clone()), ("/bytes", null)],
    );
    let copy = ["world copy universe one four", "world copy universe one five --dry-run"];
    let copy = lines(&sandbox, &copy);
    let delete = lines(&sandbox, &["world delete universe four --yes"]);
    vec![
        ("info", vec![info]),
        ("world list", vec![list]),
        ("world create", vec![create]),
        ("world copy", vec![copy]),
        ("world delete", vec![delete]),
    ]
}

fn players() -> Samples {
    let sandbox = players::save();
    let mut list = lines(&sandbox, &["player list ."]);
    let mut show = lines(&sandbox, &["player show . Anna"]);
    let null = Value::Null;
    let nulls = ["/name", "/world", "/x", "/y", "/z", "/game_mode"].map(|key| (key, null.clone()));
    also(&mut list, 0, &nulls);
    also(&mut show, 0, &nulls);
    let slot = ("/containers/0/active_slot", null.clone());
    also(&mut show, 0, &[("/health", 1.into()), ("/findings", json!(["text"])), slot]);
    sandbox.run(&["player", "export", ".", "Anna", "-o", "anna.json"]).ends(0);
    let remove = ["player remove . Anna --dry-run", "player remove . Anna"];
    let remove = lines(&sandbox, &remove);
    let import = lines(&sandbox, &["player import . anna.json"]);
    let resources = lines(&sandbox, &["resource list ."]);
    let shown = ["resource show . Memories", "resource show universe/worlds/one Time"];
    let shown = lines(&sandbox, &shown);
    vec![
        ("player list", vec![list]),
        ("player show", vec![show]),
        ("player import", vec![import]),
        ("player remove", vec![remove]),
        ("resource list", vec![resources]),
        ("resource show", vec![shown]),
    ]
}

/// Creates region files of both versions, intact and damaged.
fn region_files() -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, file) in [
        ("0.0.region.bin", "v1/multiseg"),
        ("small.bin", "v1/geometry_16x64"),
        ("removed.bin", "v1/orphan_segments"),
        ("v0.bin", "v0/crash_overwrite_midwrite"),
        ("v0b.bin", "v0/basic"),
        ("cut.bin", "v1/header_only"),
        ("1.1.region.bin", "v1/multiseg"),
        ("bad.bin", "corrupt/index_past_eof"),
    ] {
        sandbox.file(name, &fixture(&format!("original/{file}.region.bin")));
    }
    let mut bytes = sandbox.bytes("1.1.region.bin");
    let (number, _) = sandbox.documents("1.1.region.bin").pop_first().unwrap();
    let entry = 32 + 4 * number as usize;
    bytes[entry..entry + 4].copy_from_slice(&i32::MAX.to_be_bytes());
    sandbox.file("1.1.region.bin", &bytes);
    let mut v0 = V0Writer::new(32, 256);
    v0.append(4, &b"damaged".repeat(200));
    let last = v0.segment_offset(v0.segment_count()) + 20;
    v0.bytes[last] ^= 0xFF;
    sandbox.file("v0bad.bin", &v0.bytes);
    sandbox.file("1.1.region.bin.old", b"");
    sandbox.file("content", b"content of a slot");
    sandbox
}

fn regions() -> Samples {
    let sandbox = region_files();
    let info = ["0.0.region.bin", "small.bin", "v0.bin", "1.1.region.bin", "bad.bin", "cut.bin"];
    let info = info.map(|file| format!("region info {file}"));
    let info = lines(&sandbox, &info.each_ref().map(String::as_str));
    let ls = lines(&sandbox, &["region ls 0.0.region.bin", "region ls small.bin"]);
    let get = |name: &str, line: Option<&Value>| {
        format!("region get {name} {} -o {name}.1", line.unwrap()["slot"])
    };
    let get = [get("0.0.region.bin", ls.first()), get("small.bin", ls.last())];
    let get = lines(&sandbox, &get.each_ref().map(String::as_str));
    let put = [
        "region put 2.2.region.bin 5 content --seal --dry-run",
        "region put 2.2.region.bin 5 content --seal",
        "region put 2.2.region.bin 6 content --seal",
        "region put small.bin 5 content",
    ];
    let put = lines(&sandbox, &put);
    let rm = lines(&sandbox, &["region rm 2.2.region.bin 6", "region rm small.bin 5 --dry-run"]);
    let verify = ["1.1.region.bin", "bad.bin", "cut.bin", "small.bin"];
    let verify = verify.map(|file| format!("region verify {file}"));
    let mut verify = lines(&sandbox, &verify.each_ref().map(String::as_str));
    let salvage = salvaged(&sandbox);
    let compact = ["1.1.region.bin", "bad.bin", "small.bin"];
    let compact = compact.map(|file| format!("region compact {file} --drop-damaged --dry-run"));
    let compact = compact.each_ref().map(String::as_str);
    let compact = lines(&sandbox, &compact);
    let upgrade = ["region upgrade v0b.bin", "region upgrade v0bad.bin"];
    let mut upgrade = lines(&sandbox, &upgrade);
    also(&mut upgrade, 1, &[("/damaged/0/x", 1.into()), ("/damaged/0/z", 1.into())]);
    let seal = ["1.1.region.bin", "bad.bin --dry-run"].map(|file| format!("region seal {file}"));
    let seal = lines(&sandbox, &seal.each_ref().map(String::as_str));
    let mut bytes = sandbox.bytes("2.2.region.bin");
    bytes[32..4128].fill(0);
    sandbox.file("2.2.region.bin", &bytes);
    let rebuild = ["--dry-run", "--yes"]
        .map(|end| format!("region verify 2.2.region.bin --rebuild-index {end}"));
    verify.extend(lines(&sandbox, &rebuild.each_ref().map(String::as_str)));
    let (rebuild, verify) = verify.into_iter().partition(|line| {
        ["change", "rebuild", "header"].contains(&line["type"].as_str().unwrap())
    });
    let mut rebuild: Vec<Value> = rebuild;
    rebuild.extend(destroyed_header(&sandbox));
    let keys = ["/x", "/z", "/segment", "/save_counter", "/time_ms", "/identity"];
    also(&mut rebuild, 0, &keys.map(|key| (key, Value::Null)));
    vec![
        ("region info", vec![info]),
        ("region ls", vec![ls]),
        ("region get", vec![get]),
        ("region put", vec![put]),
        ("region rm", vec![rm]),
        ("region verify", vec![verify, rebuild]),
        ("region salvage", salvage),
        ("region compact", vec![compact]),
        ("region upgrade", vec![upgrade]),
        ("region seal", vec![seal]),
    ]
}

/// Returns the output of listing, extracting all, extracting one, and restoring.
fn salvaged(sandbox: &Sandbox) -> Vec<Vec<Value>> {
    let salvage = lines(sandbox, &["region salvage 2.2.region.bin", "region salvage removed.bin"]);
    let segment = salvage[0]["segment"].to_string();
    let out = format!("region salvage 2.2.region.bin --segment {segment} -o out");
    let extracted = lines(sandbox, &[&out]);
    let restore = format!("region salvage 2.2.region.bin --segment {segment} --restore 6");
    let folder = ["2.2.region.bin", "removed.bin"];
    let folder = folder.map(|file| format!("region salvage {file} --all -o folder-{file}"));
    let folder = lines(sandbox, &folder.each_ref().map(String::as_str));
    let mut restored = lines(sandbox, &[&restore]);
    also(&mut restored, 0, &[("/x", Value::Null), ("/z", Value::Null)]);
    vec![salvage, folder, extracted, restored]
}

/// Returns the output for pictures, and for tiles.
fn maps(sandbox: &Sandbox) -> Vec<Vec<Value>> {
    let map = "map -1.0.region.bin --assets none -o";
    let surface = format!("{map} surface.png");
    let environment = format!("{map} environment.png --layer environment");
    let mut pictures = lines(sandbox, &[&surface, &environment]);
    also(&mut pictures, 0, &[("/assets", "text".into())]);
    let mut tiles = lines(sandbox, &[&format!("{map} map"), &format!("{map} map.pmtiles")]);
    also(&mut tiles, 0, &[("/assets", "text".into())]);
    vec![pictures, tiles]
}

fn colors(sandbox: &Sandbox) -> Vec<Value> {
    let mut colors = lines(sandbox, &["colors . --assets none"]);
    also(&mut colors, 0, &[("/particle", "text".into()), ("/texture", "text".into())]);
    colors
}

fn chunks() -> Samples {
    let sandbox = world::with_chunk(&world::sample());
    sandbox.file("-1.0.region.bin", &sandbox.bytes(world::FILE));
    for (name, file) in
        [("0.0.region.bin", "synthetic_v6"), ("1.0.region.bin", "synthetic_old_versions")]
    {
        sandbox.file(name, &fixture(&format!("original/chunks/{file}.region.bin")));
    }
    let every = lines(&sandbox, &["ls 0.0.region.bin", "ls -1.0.region.bin"]);
    let chunk = every.iter().map(|at| format!("chunk . --chunk {},{}", at["x"], at["z"]));
    let chunk: Vec<String> = chunk.collect();
    let chunk = lines(&sandbox, &chunk.iter().map(String::as_str).collect::<Vec<_>>());
    let mut blocks = Vec::new();
    for (x, y, z) in [(-96, 64, 224), (-91, 66, 233)] {
        blocks.push(format!("block . {x} {y} {z}"));
    }
    let mut blocks = lines(&sandbox, &blocks.iter().map(String::as_str).collect::<Vec<_>>());
    let turns = ["/rotation/yaw", "/rotation/pitch", "/rotation/roll", "/base"];
    also(&mut blocks, 0, &turns.map(|key| (key, Value::Null)));
    let mut chunk = chunk;
    also(
        &mut chunk,
        0,
        &[
            ("/compressed", Value::Null),
            ("/chunk/fragile", json!([{"x": 1, "y": 1, "z": 1, "seconds": 1}])),
            ("/chunk/spawned_npcs", json!({})),
            ("/chunk/findings", json!(["text"])),
        ],
    );
    let has_entities = |line: &Value| !line["chunk"]["entities"][0].is_null();
    let last = chunk.iter().position(has_entities).unwrap();
    also(
        &mut chunk,
        last,
        &[
            ("/chunk/entities/0/model", "text".into()),
            ("/chunk/entities/0/name", "text".into()),
            ("/chunk/entities/0/section", 1.into()),
            ("/chunk/block_entities/0/section", 1.into()),
        ],
    );
    let component = json!({"id": "", "version": null, "bytes": 1, "finding": "", "rest": {}});
    also(&mut chunk, 0, &[("/chunk/components", json!([component]))]);
    also(&mut chunk, 0, &[("/chunk/sections/0/components", json!([component]))]);
    let fingerprints = lines(&sandbox, &["fingerprint 0.0.region.bin"]);
    vec![
        ("chunk", vec![chunk]),
        ("dump", Vec::new()),
        ("block", vec![blocks]),
        ("fingerprint", vec![fingerprints]),
        ("map", maps(&sandbox)),
        ("colors", vec![colors(&sandbox)]),
    ]
}

fn storages() -> Samples {
    let sandbox = world::with_chunk(&world::sample());
    fs::create_dir(sandbox.path("a")).unwrap();
    fs::create_dir(sandbox.path("b")).unwrap();
    sandbox.file("a/0.0.region.bin", &fixture("original/chunks/synthetic_v6.region.bin"));
    sandbox.file("b/0.0.region.bin", &fixture("original/corrupt/index_past_eof.region.bin"));
    sandbox.file("b/1.0.region.bin", b"not a region file, but long enough for its header");
    let mut ls = lines(&sandbox, &["ls a"]);
    also(&mut ls, 0, &[("/stored", Value::Null)]);
    let verify = lines(&sandbox, &["verify b", "verify a"]);
    let convert = lines(&sandbox, &["convert a c", "convert b d", "convert a e --dry-run"]);
    let compare = lines(&sandbox, &["convert a c --verify-only"]);
    let mut snapshot = lines(&sandbox, &["snapshot a f", "snapshot b g"]);
    let failure = json!({"class": "text", "file": null, "x": 1, "z": 1, "message": "text"});
    also(&mut snapshot, 0, &[("/findings", json!([failure]))]);
    let mut migrate = lines(&sandbox, &["migrate world --to IndexedStorage"]);
    let failure = json!({"stage": "read", "x": 1, "z": 1, "message": "text"});
    also(&mut migrate, 0, &[("/findings", json!([failure])), ("/bundle", Value::Null)]);
    let failure = json!({"stage": "list", "x": null, "z": null, "message": "text"});
    also(&mut migrate, 0, &[("/findings", json!([failure]))]);
    vec![
        ("ls", vec![ls]),
        ("verify", vec![verify]),
        ("convert", vec![convert, compare]),
        ("snapshot", vec![snapshot]),
        ("migrate", vec![migrate]),
        ("upgrade", vec![upgrading_worlds::samples()]),
    ]
}

/// Verbs that change worlds with an undo bundle.
fn health() -> Samples {
    let sandbox = repairing::save();
    let region = "save/universe/worlds/w/chunks/0.0.region.bin";
    sandbox.run(&["region", "rm", region, "1,1"]).ends(0);
    let mut undelete = lines(&sandbox, &["undelete save", "undelete save --all --yes"]);
    let keys = ["x", "z", "evidence", "blocks", "height_min", "height_max", "entities"];
    let keys = keys.into_iter().chain(["block_entities"]);
    let nulls: Vec<_> = keys.map(|key| (format!("/{key}"), Value::Null)).collect();
    let nulls: Vec<_> = nulls.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    also(&mut undelete, 0, &nulls);
    also(&mut undelete, 0, &[("/message", "text".into()), ("/game_time", "text".into())]);
    repairing::damage(&sandbox.path("save"));
    sandbox.file("save/universe/worlds/w/chunks/9.9.region.bin", b"");
    sandbox.file("save/universe/worlds/w/resources/Time.json", b"{");
    sandbox.file("save/universe/worlds/w/resources/Other.json", b"{");
    sandbox.file("good/universe/worlds/w/resources/Other.json", b"{}");
    let mut repair = lines(&sandbox, &["repair save --from good --dry-run"]);
    repair.extend(lines(&sandbox, &["repair save --from good --yes"]));
    repair.push(json!({"type": "left", "class": "text", "message": "text", "reason": "text"}));
    also(&mut repair, 0, &[("/time", Value::Null)]);
    let chunk = repair.iter().position(|line| line["type"] == "chunk").unwrap();
    also(&mut repair, chunk, &[("/source", Value::Null), ("/lost", json!(["text"]))]);
    let undo = "undo save/universe/worlds/w-repair-1.hyundo";
    let mut undo = lines(&sandbox, &[&format!("{undo} --dry-run"), &format!("{undo} --yes")]);
    also(&mut undo, 0, &[("/x", 1.into()), ("/z", 1.into())]);
    let restore = "restore save --from good --area -9,-9:9,9 --file resources/Other.json --yes";
    let mut restore = lines(&sandbox, &[restore]);
    let last = restore.len() - 1;
    also(&mut restore, last, &[("/bundle", Value::Null)]);
    let pack = |verb: &str| {
        lines(&sandbox, &[&format!("{verb} save --dry-run"), &format!("{verb} save --yes")])
    };
    let (compact, seal, unseal) = (pack("compact"), pack("seal"), pack("unseal"));
    vec![
        ("repair", vec![repair]),
        ("restore", vec![restore]),
        ("undelete", vec![undelete]),
        ("undo", vec![undo]),
        ("compact", vec![compact]),
        ("seal", vec![seal]),
        ("unseal", vec![unseal]),
    ]
}

fn queries() -> Samples {
    let sandbox = crate::querying::save();
    let mut select = lines(&sandbox, &["select save x>=0", "select save x>99"]);
    also(&mut select, 0, &[("/min", Value::Null), ("/max", Value::Null)]);
    let explain = lines(&sandbox, &["select save x>=0 --explain"]);
    let mut find = lines(&sandbox, &["find save --item * --block Ore_Iron --entity *"]);
    let nowhere = ["/x", "/y", "/z", "/holder"].map(|key| (key, Value::Null));
    also(&mut find, 0, &nowhere);
    let count = lines(&sandbox, &["find save --item * --count"]);
    let mut stats = lines(&sandbox, &["stats save --ores --by-environment"]);
    also(&mut stats, 0, &[("/space", Value::Null)]);
    vec![
        ("select", vec![select, explain]),
        ("find", vec![find, count]),
        ("stats", vec![stats]),
        ("diff", vec![crate::trimming::differences()]),
        ("trim", vec![crate::trimming::plans()]),
    ]
}

fn running() -> Samples {
    let sandbox = generated::world("Flat", false);
    let demo = lines(&sandbox, &["demo folder"]);
    let mut pregen = lines(&sandbox, &["pregen world --radius 1"]);
    also(&mut pregen, 0, &[("/findings", json!([{"x": 1, "z": 1, "message": "text"}]))]);
    let look = "stress world --seconds 0.2 --edits-per-second 0 --radius 1 --area 2";
    let mut stress = lines(&sandbox, &[look]);
    let game = world::with_document(b"not a document");
    game.file("world/config.json", b"{\"Version\": 4, \"Seed\": 1}");
    stress.extend(lines(&game, &[look]));
    also(&mut stress, 0, &[("/resident_max", Value::Null)]);
    vec![("demo", vec![demo]), ("pregen", vec![pregen]), ("stress", vec![stress])]
}

fn benches() -> Samples {
    let sandbox = generated::world("Flat", false);
    sandbox.run(&["pregen", "world", "--radius", "5"]).ends(0);
    sandbox.file("0.0.region.bin", &fixture("original/chunks/synthetic_v6.region.bin"));
    let region = lines(&sandbox, &["bench region 0.0.region.bin --rounds 1"]);
    let chunk = lines(&sandbox, &["bench chunk 0.0.region.bin --rounds 1"]);
    let verify = lines(&sandbox, &["bench verify 0.0.region.bin --rounds 1"]);
    let change = lines(&sandbox, &["bench change 0.0.region.bin --rounds 1"]);
    let query = lines(&sandbox, &["bench query 0.0.region.bin --rounds 1"]);
    let mut map = lines(&sandbox, &["bench map world --rounds 1"]);
    also(&mut map, 0, &[("/peak_memory", Value::Null)]);
    let mut providers = lines(&sandbox, &["bench providers 0.0.region.bin --rounds 1"]);
    also(&mut providers, 0, &[("/providers/0/stored", Value::Null)]);
    let mut scale = lines(&sandbox, &["bench providers --scale 10"]);
    also(&mut scale, 0, &[("/providers/0/peak_memory", Value::Null)]);
    let store = [
        "bench store 0.0.region.bin --rounds 1 --walk-chunks 0",
        "bench store world --rounds 1 --latency-seconds 0.2 --walk-chunks 1",
    ];
    let mut store = lines(&sandbox, &store);
    let memory = ["/walk/resident_before", "/walk/resident_max", "/walk/resident_bound"];
    also(&mut store, 1, &memory.map(|key| (key, Value::Null)));
    vec![
        ("bench region", vec![region]),
        ("bench chunk", vec![chunk]),
        ("bench providers", vec![providers, scale]),
        ("bench store", vec![store]),
        ("bench verify", vec![verify]),
        ("bench change", vec![change]),
        ("bench query", vec![query]),
        ("bench map", vec![map]),
    ]
}

/// Returns the output of rebuilding a header, in a dry run and without.
fn destroyed_header(sandbox: &Sandbox) -> Vec<Value> {
    let mut bytes = sandbox.bytes("2.2.region.bin");
    bytes[..32].fill(0);
    sandbox.file("4.4.region.bin", &bytes);
    let verify = "region verify 4.4.region.bin --assume-geometry 1024x4096 --rebuild-header";
    let runs = ["--dry-run", "--yes"].map(|end| format!("{verify} {end}"));
    let lines = lines(sandbox, &runs.each_ref().map(String::as_str)).into_iter();
    lines.filter(|line| line["type"] == "header").collect()
}
