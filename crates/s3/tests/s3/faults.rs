//! A server that restarts, stops, or rejects the client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hyworld_providers::{
    Access, ChunkStorage, ChunkStorageExt, Error, ProviderConfig, ProviderRegistry,
};
use hyworld_s3::S3Options;
use serde_json::json;

use crate::harness::{GAME, Identity, Server, is_available};
use crate::{document, positions};

fn variables(who: Identity) -> Vec<(String, String)> {
    let all = [("AWS_ACCESS_KEY_ID", who.key), ("AWS_SECRET_ACCESS_KEY", who.secret)];
    all.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

/// A restart only delays the save.
#[test]
fn a_server_that_restarts_during_a_save() {
    if !is_available() {
        return;
    }
    let mut server = Server::start();
    let storage = Arc::new(server.open("restart"));
    let all = positions(600);
    for at in &all {
        storage.write(*at, &document(*at, 1)).unwrap();
    }
    // Repeated, so that the server is killed during a save no matter how fast it is.
    let is_back = Arc::new(AtomicBool::new(false));
    let saving = {
        let (storage, all, is_back) = (Arc::clone(&storage), all.clone(), Arc::clone(&is_back));
        std::thread::spawn(move || {
            let documents: Vec<_> = all.iter().map(|at| (*at, document(*at, 2))).collect();
            let chunks: Vec<_> = documents.iter().map(|(at, d)| (*at, d.as_slice())).collect();
            while !is_back.load(Ordering::SeqCst) {
                storage.write_all(&chunks)?;
            }
            Ok::<(), Error>(())
        })
    };
    std::thread::sleep(Duration::from_millis(60));
    server.kill();
    std::thread::sleep(Duration::from_secs(1));
    assert!(!saving.is_finished());
    server.restart();
    is_back.store(true, Ordering::SeqCst);
    saving.join().unwrap().unwrap();
    storage.sync().unwrap();
    for (at, found) in all.iter().zip(storage.read_all(&all).unwrap()) {
        assert_eq!(found.unwrap(), document(*at, 2), "{at}");
    }
    assert_eq!(storage.all_positions().unwrap().len(), all.len());
    a_server_that_stays_down(&mut server);
}

/// Errors have the reason, and each chunk is afterwards its complete old or new version.
fn a_server_that_stays_down(server: &mut Server) {
    let storage = server.options("away").deadline(Duration::from_secs(3)).open().unwrap();
    let all = positions(120);
    for version in [1, 2] {
        let documents: Vec<_> = all.iter().map(|at| (*at, document(*at, version))).collect();
        let chunks: Vec<_> = documents.iter().map(|(at, d)| (*at, d.as_slice())).collect();
        let is_complete = |results: &Vec<Result<(), Error>>| results.iter().all(Result::is_ok);
        let results = if version == 1 {
            storage.write_many(&chunks)
        } else {
            let rounds = || (0..10_000).map(|_| storage.write_many(&chunks));
            std::thread::scope(|scope| {
                let saving = scope.spawn(|| rounds().find(|results| !is_complete(results)));
                std::thread::sleep(Duration::from_millis(40));
                server.kill();
                saving.join().unwrap().unwrap_or_default()
            })
        };
        let failed = results.iter().find_map(|result| result.as_ref().err());
        assert_eq!(failed.is_some(), version == 2);
        if let Some(error) = failed {
            let text = error.to_string();
            assert!(text.starts_with("s3://hyworld/away: cannot write: "), "{text}");
        }
    }
    let text = storage.read(all[0]).unwrap_err().to_string();
    assert!(text.contains("onnection refused"), "{text}");
    assert!(storage.all_positions().is_err());
    server.restart();
    server.wait();
    let reader = server.open_read_only("away");
    for (at, found) in all.iter().zip(reader.read_all(&all).unwrap()) {
        let found = found.unwrap();
        assert!(found == document(*at, 1) || found == document(*at, 2), "{at}");
    }
}

#[test]
fn a_server_that_rejects_the_client() {
    if !is_available() {
        return;
    }
    let server = Server::start();
    server.open("access").write(positions(1)[0], b"x").unwrap();
    wrong_credentials(&server);
    missing_bucket(&server);
    unreachable_server();
    through_the_registry(&server);
}

fn wrong_credentials(server: &Server) {
    let wrong_secret = Identity { secret: "another", ..GAME };
    let wrong_key = Identity { key: "NOBODYATALL", secret: GAME.secret };
    for (who, code) in [(wrong_secret, "SignatureDoesNotMatch"), (wrong_key, "InvalidAccessKeyId")]
    {
        for access in [Access::ReadOnly, Access::ReadWrite] {
            let options = server.options("access").access(access).variables(variables(who));
            let started = Instant::now();
            let text = options.open().unwrap_err().to_string();
            assert!(text.contains(&format!("403 Forbidden {code}")), "{text}");
            assert!(text.contains("check the credentials"), "{text}");
            assert!(started.elapsed() < Duration::from_secs(5), "it is not retried");
        }
    }
}

/// A missing bucket is never an empty world, which could overwrite a real one elsewhere.
fn missing_bucket(server: &Server) {
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let options = S3Options::new("s3://nosuchbucket/w").unwrap().variables(variables(GAME));
        let options = options.endpoint(&server.endpoint()).access(access);
        let text = options.open().unwrap_err().to_string();
        assert!(text.starts_with("s3://nosuchbucket/w: cannot open: the server"), "{text}");
        assert!(text.contains("404 Not Found NoSuchBucket"), "{text}");
        assert!(text.ends_with("create the bucket, or correct the Url"), "{text}");
    }
    let text = server.options("no/world").access(Access::ReadOnly).open().unwrap_err().to_string();
    assert!(text.contains("hyworld.json is missing"), "{text}");
}

fn unreachable_server() {
    let options = S3Options::new("s3://bucket/w").unwrap().variables(variables(GAME));
    let options = options.endpoint("http://127.0.0.1:1").deadline(Duration::from_secs(2));
    let started = Instant::now();
    let text = options.open().unwrap_err().to_string();
    assert!(text.contains("onnection refused"), "{text}");
    let took = started.elapsed();
    assert!(took > Duration::from_secs(1) && took < Duration::from_secs(5), "{took:?}");
}

/// A wrong address must not block for a minute.
#[test]
fn a_wrong_address_fails_early() {
    let options = S3Options::new("s3://bucket/w").unwrap().variables(variables(GAME));
    let started = Instant::now();
    let text = options.endpoint("http://127.0.0.1:1").open().unwrap_err().to_string();
    assert!(text.contains("onnection refused"), "{text}");
    let took = started.elapsed();
    assert!(took > Duration::from_secs(4) && took < Duration::from_secs(15), "{took:?}");
}

/// Opens the storage like a world's configuration does.
fn through_the_registry(server: &Server) {
    let mut registry = ProviderRegistry::new();
    hyworld_s3::register(&mut registry);
    assert!(registry.type_names().any(|name| name == "hyworld:S3"));
    let config = ProviderConfig::new("hyworld:S3").with("Url", json!("s3://hyworld/access"));
    let config = config.with("Endpoint", json!(server.endpoint())).with("Cache", json!("cache"));
    // The same, but without the environment of this test.
    registry.register("hyworld:S3", |config, context| {
        let options = S3Options::from_config(config, context.world)?.access(context.access);
        Ok(Box::new(options.variables(variables(GAME)).open()?))
    });
    let world = tempfile::tempdir().unwrap();
    let storage = registry.open(&config, world.path(), Access::ReadOnly).unwrap();
    assert_eq!(storage.read(positions(1)[0]).unwrap().unwrap(), b"x");
    assert!(world.path().join("cache").is_dir());
    assert!(matches!(storage.write(positions(1)[0], b""), Err(Error::ReadOnly { .. })));
}
