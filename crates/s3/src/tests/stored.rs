//! Tests of the stored objects, including damaged ones.

use std::sync::Arc;

use hyworld_coords::ChunkPos;
use hyworld_indexed_storage::{EncodedBlob, SealTag, Slot};
use hyworld_providers::{Access, ChunkStorage, ChunkStorageExt, Error};

use super::{get, memory, names, open, options, put, read_only, wait};

const AT: ChunkPos = ChunkPos::new(5, 0);
const NAME: &str = "w/chunks/0.0/5.zst";

fn frames(document: &[u8]) -> Vec<u8> {
    EncodedBlob::compress(document, 3).unwrap().frames().to_vec()
}

#[test]
fn an_object_is_the_frame_of_a_region_file() {
    let store = memory();
    let storage = open(&store).unwrap();
    storage.write(AT, b"some document").unwrap();
    assert_eq!(get(&store, NAME).unwrap(), frames(b"some document"));
    let frame = storage.frames().unwrap().read_frames(&[AT]).remove(0).unwrap().unwrap();
    assert_eq!(frame, EncodedBlob::compress(b"some document", 3).unwrap());
    drop(storage);
    assert_eq!(names(&store), [NAME, "w/hyworld.json", "w/lease.json"]);
}

#[test]
fn reading_changes_nothing_and_needs_a_world() {
    let store = memory();
    let error = read_only(&store).unwrap_err().to_string();
    assert!(error.contains("hyworld.json is missing"), "{error}");
    assert!(names(&store).is_empty());
    open(&store).unwrap().write(AT, b"x").unwrap();
    let before: Vec<_> = names(&store).iter().map(|name| get(&store, name)).collect();
    let storage = read_only(&store).unwrap();
    assert_eq!(storage.read(AT).unwrap().unwrap(), b"x");
    assert!(matches!(storage.write(AT, b"y"), Err(Error::ReadOnly { .. })));
    assert!(matches!(storage.remove(AT), Err(Error::ReadOnly { .. })));
    storage.sync().unwrap();
    drop(storage);
    let after: Vec<_> = names(&store).iter().map(|name| get(&store, name)).collect();
    assert_eq!(after, before);
}

#[test]
fn another_format_is_neither_read_nor_written() {
    let store = memory();
    for (manifest, expected) in [
        (r#"{"Format":"hyworld-chunks","Version":2}"#, "version 2"),
        (r#"{"Format":"other","Version":1}"#, "has another format"),
        ("broken", "is not JSON"),
    ] {
        put(&store, "w/hyworld.json", manifest.as_bytes(), None);
        for opened in [open(&store), read_only(&store)] {
            let error = opened.unwrap_err().to_string();
            assert!(
                error.contains("s3://bucket/w: cannot open") && error.contains(expected),
                "{error}"
            );
        }
        assert_eq!(names(&store), ["w/hyworld.json"]);
    }
}

#[test]
fn a_damaged_object_is_reported_and_affects_no_other() {
    let store = memory();
    let storage = open(&store).unwrap();
    let other = ChunkPos::new(6, 0);
    storage.write(other, b"fine").unwrap();
    let good = frames(&b"some document ".repeat(50));
    let half = &good[..good.len() / 2];
    let trailing = [good.as_slice(), b"x"].concat();
    let cases: [(&[u8], Option<&str>); 8] = [
        (b"", Some("700")),
        (b"garbage", Some("700")),
        (b"garbage", None),
        (half, Some("700")),
        (&trailing, Some("700")),
        (&good, Some("699")),
        (&good, Some("4000000000")),
        (&good, Some("300000000")),
    ];
    for (bytes, raw) in cases {
        put(&store, NAME, bytes, raw);
        let error = storage.read(AT).unwrap_err();
        assert!(matches!(error, Error::Damaged { at: AT, .. }) && error.is_damage(), "{error}");
        let text = error.to_string();
        assert!(text.starts_with(&format!("chunk {AT}: s3://bucket/{NAME}: ")), "{text}");
        let both = storage.read_many(&[AT, other]);
        assert!(both[0].is_err() && both[1].as_ref().unwrap().as_deref() == Some(b"fine"));
        assert_eq!(storage.all_positions().unwrap(), [AT, other]);
        assert_eq!(get(&store, NAME).unwrap(), bytes, "it is not changed");
    }
}

#[test]
fn short_documents_are_padded_with_zeros_as_in_region_files() {
    let store = memory();
    let storage = open(&store).unwrap();
    put(&store, NAME, &frames(b"abc"), Some("5"));
    assert_eq!(storage.read(AT).unwrap().unwrap(), b"abc\0\0");
    assert_eq!(storage.size(AT).unwrap().unwrap().raw, 5);
    let frame = storage.frames().unwrap().read_frames(&[AT]).remove(0).unwrap().unwrap();
    assert_eq!((frame.header().raw_bytes, frame.frames()), (5, frames(b"abc").as_slice()));
}

#[test]
fn an_object_without_metadata_can_be_read() {
    let store = memory();
    let storage = open(&store).unwrap();
    for raw in [None, Some("much")] {
        put(&store, NAME, &frames(b"abcdef"), raw);
        assert_eq!(storage.read(AT).unwrap().unwrap(), b"abcdef");
        let size = storage.size(AT).unwrap().unwrap();
        assert_eq!((size.raw, size.stored), (6, Some(frames(b"abcdef").len() as u64)));
    }
}

#[test]
fn a_sealed_blob_of_another_slot_is_damage() {
    let store = memory();
    let storage = open(&store).unwrap();
    let tag = SealTag::new(*b"id").unwrap();
    let sealed = |slot| EncodedBlob::compress_sealed(b"document", 3, Slot::new(slot), &tag);
    let (right, wrong) = (sealed(5).unwrap(), sealed(6).unwrap());
    let frames = storage.frames().unwrap();
    assert!(frames.write_frames(&[(AT, &right)]).remove(0).is_ok());
    assert_eq!(storage.read(AT).unwrap().unwrap(), b"document");
    assert!(frames.write_frames(&[(AT, &wrong)]).remove(0).is_ok());
    let error = storage.read(AT).unwrap_err();
    assert!(error.is_damage() && error.to_string().ends_with("seal belongs to slot 6"), "{error}");
    assert_eq!(frames.read_frames(&[AT]).remove(0).unwrap().unwrap(), wrong, "it is not changed");
}

#[test]
fn objects_with_other_names_are_ignored() {
    let store = memory();
    let odd = ["w/chunks/0.0/5.zst.bak", "w/chunks/readme", "w/notes.txt", "wx/chunks/0.0/5.zst"];
    for name in odd {
        put(&store, name, b"mine", None);
    }
    let storage = open(&store).unwrap();
    assert_eq!(storage.all_positions().unwrap(), []);
    storage.write(AT, b"x").unwrap();
    assert_eq!(storage.all_positions().unwrap(), [AT]);
    assert!(storage.remove(AT).unwrap());
    for name in odd {
        assert_eq!(get(&store, name).unwrap(), b"mine", "{name}");
    }
}

#[test]
fn duplicate_chunks_in_a_batch_are_written_in_order() {
    let store = memory();
    let storage = open(&store).unwrap();
    let too_long = vec![0; (1 << 28) + 1];
    let other = ChunkPos::new(6, 0);
    let chunks: [(_, &[u8]); 5] =
        [(AT, b"1"), (other, b"a"), (AT, b"2"), (AT, &too_long), (other, b"b")];
    let results = storage.write_many(&chunks);
    assert_eq!(
        results.iter().map(Result::is_ok).collect::<Vec<_>>(),
        [true, true, true, false, true]
    );
    let read = storage.read_all(&[AT, other]).unwrap();
    assert_eq!(read, [Some(b"2".to_vec()), Some(b"b".to_vec())]);
}

#[test]
fn it_works_on_a_thread_of_another_runtime() {
    let store = memory();
    wait(async {
        let storage = open(&store).unwrap();
        storage.write(AT, b"x").unwrap();
        assert_eq!(storage.read(AT).unwrap().unwrap(), b"x");
        assert_eq!(storage.all_positions().unwrap(), [AT]);
        storage.sync().unwrap();
    });
    assert!(open(&store).is_ok(), "the lease was released");
}

#[test]
fn a_cache_is_never_stale() {
    let (store, folder) = (memory(), tempfile::tempdir().unwrap());
    let writer = open(&store).unwrap();
    let reader = options().access(Access::ReadOnly).cache(folder.path(), 1 << 20);
    let reader = reader.open_on(Arc::clone(&store) as _).unwrap();
    writer.write(AT, b"one").unwrap();
    for document in [b"one".as_slice(), b"two"] {
        writer.write(AT, document).unwrap();
        for _ in 0..3 {
            assert_eq!(reader.read(AT).unwrap().unwrap(), document);
        }
    }
    let stats = reader.cache_stats().unwrap();
    assert_eq!((stats.hits, stats.files, stats.failed), (4, 1, 0));
    assert!(writer.remove(AT).unwrap());
    assert_eq!(reader.read(AT).unwrap(), None);
    assert_eq!(reader.cache_stats().unwrap().files, 0);
    assert!(writer.cache_stats().is_none());
}

#[test]
fn a_damaged_cache_file_is_not_used() {
    let (store, folder) = (memory(), tempfile::tempdir().unwrap());
    let storage = options().cache(folder.path(), 1 << 20).open_on(store as _).unwrap();
    storage.write(AT, b"one").unwrap();
    assert_eq!(storage.read(AT).unwrap().unwrap(), b"one");
    let shard = folder.path().read_dir().unwrap().next().unwrap().unwrap().path();
    let file = shard.read_dir().unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    hyworld_testkit::write_file(&file, &bytes);
    assert_eq!(storage.read(AT).unwrap().unwrap(), b"one");
    let stats = storage.cache_stats().unwrap();
    assert_eq!((stats.hits, stats.dropped, stats.files), (0, 1, 1));
    storage.write(AT, b"two").unwrap();
    assert_eq!(storage.cache_stats().unwrap().files, 0, "outdated entries are removed");
}
