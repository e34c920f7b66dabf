//! The objects in the bucket: frames as in region files, many of them, and objects of others.

use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt, RegionFiles};

use crate::harness::{Server, is_available};
use crate::{document, positions};

#[test]
fn objects_in_the_bucket() {
    if !is_available() {
        return;
    }
    let server = Server::start();
    frames_are_copied_verbatim(&server);
    thousands_are_listed(&server);
    other_objects_are_left_alone(&server);
    damage_is_reported(&server);
    a_cache_is_never_stale(&server);
}

/// Copies region files to objects and back and compares the bytes.
fn frames_are_copied_verbatim(server: &Server) {
    let folder = tempfile::tempdir().unwrap();
    let from = RegionFiles::open(&folder.path().join("from")).unwrap();
    let back = RegionFiles::open(&folder.path().join("back")).unwrap();
    let storage = server.open("frames");
    for at in positions(120) {
        from.write(at, &document(at, 1)).unwrap();
        let frame = from.frames().unwrap().read_frames(&[at]).remove(0).unwrap().unwrap();
        storage.frames().unwrap().write_frames(&[(at, &frame)]).remove(0).unwrap();
        let stored = server.get(&name("frames", at)).unwrap();
        assert_eq!(stored, frame.frames(), "{at}");
        let frame = storage.frames().unwrap().read_frames(&[at]).remove(0).unwrap().unwrap();
        back.frames().unwrap().write_frames(&[(at, &frame)]).remove(0).unwrap();
        assert_eq!(storage.size(at).unwrap(), from.size(at).unwrap());
    }
    for region in from.regions().unwrap() {
        let file = |files: &RegionFiles| std::fs::read(files.folder().join(region.file_name()));
        assert!(file(&from).unwrap() == file(&back).unwrap(), "{region}");
    }
}

fn name(world: &str, at: ChunkPos) -> String {
    let region = at.region();
    format!("{world}/chunks/{}.{}/{}.zst", region.x, region.z, at.slot().index())
}

/// Lists more than a page of the server, which has 1,000 objects.
fn thousands_are_listed(server: &Server) {
    let storage = server.open("many");
    let mut all = positions(3500);
    let documents: Vec<_> = all.iter().map(|at| (*at, b"x".as_slice())).collect();
    storage.write_all(&documents).unwrap();
    all.sort_unstable();
    assert_eq!(storage.all_positions().unwrap(), all);
    // Stopping early must not hang.
    assert_eq!(storage.positions().take(10).count(), 10);
}

fn other_objects_are_left_alone(server: &Server) {
    let odd = [
        "odd/notes.txt",
        "odd/chunks/readme.txt",
        "odd/chunks/0.0/5.zst.bak",
        "odd/chunks/0.0/1024.zst",
        "odd/chunks/00.0/1.zst",
        "odd/chunks/a b+c%20\u{fc}/1.zst",
        "odd2/chunks/0.0/7.zst",
    ];
    for name in odd {
        server.put(name, b"mine");
    }
    let storage = server.open("odd");
    let at = ChunkPos::new(5, 0);
    storage.write(at, b"x").unwrap();
    assert_eq!(storage.all_positions().unwrap(), [at]);
    assert!(storage.remove(at).unwrap());
    assert_eq!(storage.all_positions().unwrap(), []);
    drop(storage);
    for name in odd {
        assert_eq!(server.get(name).as_deref(), Some(b"mine".as_slice()), "{name}");
    }
    let expected = ["odd/hyworld.json", "odd/lease.json"].map(str::to_owned);
    let rest = server.names("odd").into_iter().filter(|name| !odd.contains(&name.as_str()));
    assert_eq!(rest.collect::<Vec<_>>(), expected, "no other object remains");
}

fn damage_is_reported(server: &Server) {
    let storage = server.open("damage");
    let [good, bad, empty] = [5, 6, 7].map(|x| ChunkPos::new(x, 0));
    storage.write(good, b"good").unwrap();
    let frame = server.get("damage/chunks/0.0/5.zst").unwrap();
    server.put("damage/chunks/0.0/6.zst", &frame[..frame.len() - 1]);
    server.put("damage/chunks/0.0/7.zst", b"");
    for at in [bad, empty] {
        let error = storage.read(at).unwrap_err();
        let object = format!("s3://hyworld/damage/chunks/0.0/{}.zst: ", at.x);
        assert!(error.is_damage() && error.to_string().contains(&object), "{error}");
    }
    let read = storage.read_many(&[bad, good, empty]);
    assert_eq!(read[1].as_ref().unwrap().as_deref(), Some(b"good".as_slice()));
    // Copied without the metadata.
    server.put("damage/chunks/0.0/6.zst", &frame);
    assert_eq!(storage.read(bad).unwrap().unwrap(), b"good");
    assert_eq!(storage.size(bad).unwrap().unwrap().raw, 4);
}

fn a_cache_is_never_stale(server: &Server) {
    let folder = tempfile::tempdir().unwrap();
    let writer = server.open("cached");
    let reader = server.options("cached").access(hyworld_providers::Access::ReadOnly);
    let reader = reader.cache(folder.path(), 1 << 20).open().unwrap();
    let all = positions(40);
    for version in 1..4 {
        for at in &all {
            writer.write(*at, &document(*at, version)).unwrap();
        }
        for _ in 0..2 {
            for (at, found) in all.iter().zip(reader.read_all(&all).unwrap()) {
                assert_eq!(found.unwrap(), document(*at, version));
            }
        }
    }
    let stats = reader.cache_stats().unwrap();
    assert_eq!((stats.hits, stats.files, stats.failed), (120, 40, 0));
    assert!(writer.remove(all[0]).unwrap());
    assert_eq!(reader.read(all[0]).unwrap(), None);
}
