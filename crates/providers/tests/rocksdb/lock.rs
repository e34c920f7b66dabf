//! Only one writer can open a database.

use hyworld_providers::{ChunkStorage, Error, RocksDbStorage};

use crate::crash::{Child, position};
use crate::{filled, world};

#[test]
fn a_second_writer_in_this_program_is_rejected() {
    let (_world, folder) = world();
    let positions = filled(&folder);
    let first = RocksDbStorage::open(&folder).unwrap();
    let error = RocksDbStorage::open(&folder).unwrap_err();
    assert!(matches!(&error, Error::Locked { .. }), "{error:?}");
    let expected = format!("{}: this program has it open for writing", folder.display());
    assert!(error.to_string().starts_with(&expected), "{error}");
    first.write(positions[0], b"x").unwrap();
    drop(first);
    assert!(RocksDbStorage::open(&folder).is_ok());
}

#[test]
fn a_second_writer_in_another_program_is_rejected() {
    let (_world, folder) = world();
    let mut child = Child::start(&folder, "relaxed");
    child.wait_for(1);
    let error = RocksDbStorage::open(&folder).unwrap_err();
    assert!(matches!(&error, Error::Locked { .. }), "{error:?}");
    let expected = format!("{}: another program has it open for writing", folder.display());
    assert!(error.to_string().starts_with(&expected), "{error}");
    assert!(child.is_running());
    child.wait_for(50);
    child.kill();
    let storage = RocksDbStorage::open(&folder).unwrap();
    assert!(storage.read(position(0)).unwrap().is_some());
}
