//! Opens arbitrary bytes as a backup and reads everything in it.
//!
//! An input is a byte, and then records for `hyworld_fuzz::zip::join`; or, if the byte is odd, the
//! bytes of the zip.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use hyworld_coords::ChunkPos;
use hyworld_world::Backup;
use libfuzzer_sys::fuzz_target;

/// The file of this process; name the fastest disk with TMPDIR.
static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("backup-{}.zip", std::process::id())));

fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let bytes = if choice % 2 == 0 { hyworld_fuzz::zip::join(rest) } else { rest.to_vec() };
    std::fs::write(&*FILE, &bytes).expect("the disk works");
    let Ok(mut backup) = Backup::open(&FILE) else { return };
    let entries = backup.entries().unwrap_or_default();
    for entry in entries.iter().take(8) {
        drop(backup.document(&entry.name));
        drop(backup.file(&entry.name));
    }
    for world in backup.worlds().iter().take(4) {
        for region in backup.regions(world).into_iter().take(4) {
            let Ok(Some(image)) = backup.region(world, region) else { continue };
            assert_eq!(image.region(), region);
            for at in image.positions().into_iter().take(8) {
                assert_eq!(at.region(), region);
                drop((image.size(at), image.read(at)));
            }
        }
        drop(backup.chunk(world, ChunkPos::new(0, 0)));
    }
});
