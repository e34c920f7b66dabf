use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

use hyworld_coords::ChunkPos;
use hyworld_providers::conformance::FailingStorage;
use hyworld_providers::{ChunkStorageExt, MemoryStorage};
use hyworld_testkit::write_file;
use hyworld_world::{OsFileSystem, Resources, WorldFolder, WorldOptions};

use super::*;
use crate::finding::Class;
use crate::progress::NoProgress;

const CONFIG_FILE: &str = "config.json";
const NOTE_FILE: &str = ".hyworld-migration.json";

fn at(x: i32) -> ChunkPos {
    ChunkPos::new(x, 0)
}

/// A world with region files, and storages in memory to migrate to.
struct Scene {
    world: tempfile::TempDir,
    target: Arc<FailingStorage<MemoryStorage>>,
    options: MigrateOptions,
}

impl Scene {
    fn new(chunks: i32) -> Self {
        let world = tempfile::tempdir().unwrap();
        write_file(&world.path().join(CONFIG_FILE), b"{\"Version\": 4, \"Seed\": 1}");
        let opened = WorldFolder::open(world.path(), Access::ReadWrite).unwrap();
        for x in 0..chunks {
            opened.storage().write(at(x), format!("chunk {x}").as_bytes()).unwrap();
        }
        opened.storage().sync().unwrap();
        let target = Arc::new(FailingStorage::new(MemoryStorage::new()));
        let mut registry = ProviderRegistry::new();
        let shared = Arc::clone(&target);
        registry.register("test:Target", move |_, _| Ok(Box::new(Arc::clone(&shared))));
        let scan = ScanOptions::new().jobs(NonZeroUsize::MIN);
        let options = MigrateOptions::new().registry(registry).scan(scan);
        Self { world, target, options }
    }

    fn run(&self, target: &ProviderConfig) -> Result<MigrationReport> {
        self.options.run(self.world.path(), target, &NoProgress)
    }

    /// Returns the providers named by the configuration and by the resource.
    fn providers(&self) -> (String, Option<String>) {
        let world = WorldOptions::new().without_chunks().open(self.world.path()).unwrap();
        let (config, resources) = (world.config().unwrap(), world.resources());
        let current = resources.current_provider().unwrap().provider;
        let name = |provider: &ProviderConfig| provider.type_name().to_owned();
        (name(&config.settings.chunk_storage), current.as_ref().map(name))
    }

    fn has_note(&self) -> bool {
        self.world.path().join(NOTE_FILE).exists()
    }
}

#[derive(Default)]
struct Seen {
    copied: AtomicU64,
    verified: AtomicU64,
}

impl Progress for Seen {
    fn advance(&self, chunks: u64) {
        self.copied.fetch_add(chunks, Ordering::SeqCst);
    }

    fn advance_verified(&self, chunks: u64) {
        self.verified.fetch_add(chunks, Ordering::SeqCst);
    }
}

fn target() -> ProviderConfig {
    ProviderConfig::new("test:Target")
}

#[test]
fn all_chunks_are_copied_and_the_world_is_switched() {
    let scene = Scene::new(150);
    let seen = Seen::default();
    let report = scene.options.run(scene.world.path(), &target(), &seen).unwrap();
    assert_eq!((report.copy.copied, report.copy.already), (150, 0));
    assert_eq!(report.copy.findings.total(), 0);
    assert!(report.is_switched && !report.is_resumed);
    assert_eq!([&seen.copied, &seen.verified].map(|seen| seen.load(Ordering::SeqCst)), [150; 2]);
    assert_eq!(scene.target.read(at(149)).unwrap().unwrap(), b"chunk 149");
    assert_eq!(scene.providers(), ("test:Target".to_owned(), Some("test:Target".to_owned())));
    assert!(!scene.has_note());
    assert!(scene.world.path().join("chunks/0.0.region.bin").exists(), "the source stays");
}

#[test]
fn after_a_failure_the_world_is_not_switched_and_the_next_run_continues() {
    let scene = Scene::new(100);
    scene.target.fail_writes(true);
    let report = scene.run(&target()).unwrap();
    assert_eq!((report.copy.copied, report.is_switched), (0, false));
    let classes = [(Class::Write, 100), (Class::Sync, 1)].into();
    assert_eq!(report.copy.findings.by_class(), &classes);
    assert_eq!(report.copy.findings.kept().first().unwrap().chunk, Some(at(0)));
    assert_eq!(scene.providers(), ("Hytale".to_owned(), None));
    assert!(scene.has_note());
    scene.target.fail_writes(false);
    scene.target.write(at(3), b"chunk 3").unwrap();
    scene.target.write(at(4), b"torn").unwrap();
    scene.target.write(at(777), b"from before").unwrap();
    let report = scene.run(&target()).unwrap();
    assert!(report.is_resumed && report.is_switched);
    let copy = report.copy;
    assert_eq!((copy.copied, copy.already, copy.removed), (99, 1, 1));
    assert_eq!(scene.target.read(at(4)).unwrap().unwrap(), b"chunk 4");
}

#[test]
fn existing_chunks_of_the_target_are_not_overwritten() {
    let scene = Scene::new(2);
    scene.target.write(at(1), b"mine").unwrap();
    let refused = scene.run(&target());
    assert!(matches!(refused, Err(Error::TargetHasChunks { .. })), "{refused:?}");
    assert_eq!(scene.target.read(at(1)).unwrap().unwrap(), b"mine");
    let scene = Scene { options: scene.options.clone().replace(true), ..scene };
    let refused = scene.run(&target());
    assert!(matches!(refused, Err(Error::ForeignTarget { .. })), "{refused:?}");
    assert_eq!(scene.target.read(at(1)).unwrap().unwrap(), b"mine", "nothing shows whose it is");
    let found = scene.options.inspect(scene.world.path(), &target()).unwrap().unwrap();
    assert_eq!((found.equal, found.different.len(), found.only_there.len()), (0, 1, 0));
    let bundle = scene.world.path().join("lost.hyundo");
    let options = scene.options.clone().trust_target(true).bundle(Some(bundle.clone()));
    let scene = Scene { options, ..scene };
    let report = scene.run(&target()).unwrap();
    assert_eq!((report.copy.copied, report.is_switched), (2, true));
    assert_eq!(scene.target.read(at(1)).unwrap().unwrap(), b"chunk 1");
    assert_eq!(report.bundle, Some(bundle), "what was replaced is kept");
}

/// Terrain shows that a storage belongs to another world, whatever the caller trusts.
#[test]
fn the_storage_of_another_world_is_refused() {
    let worlds = ["explored-2026-01", "ocean-2026-01"].map(hyworld_testkit::region_files);
    let [Some(explored), Some(ocean)] = worlds else { return };
    let scene = Scene::new(0);
    let own = scene.world.path().join("chunks");
    std::fs::create_dir_all(&own).unwrap();
    for path in explored {
        std::fs::copy(&path, own.join(path.file_name().unwrap())).unwrap();
    }
    // Ocean, moved to where explored is.
    let open = |folder: &Path| hyworld_providers::RegionFilesOptions::new().open(folder).unwrap();
    let (foreign, own) = (open(ocean[0].parent().unwrap()), open(&own));
    let moved = foreign.all_positions().unwrap().into_iter().zip(own.all_positions().unwrap());
    for (from, to) in moved {
        scene.target.write(to, &foreign.read(from).unwrap().unwrap()).unwrap();
    }
    drop(own);
    let before = scene.target.all_positions().unwrap();
    let options = scene.options.clone().replace(true).trust_target(true);
    let scene = Scene { options, ..scene };
    let refused = scene.run(&target());
    assert!(matches!(refused, Err(Error::ForeignTarget { .. })), "{refused:?}");
    assert_eq!(scene.target.all_positions().unwrap(), before);
}

#[test]
fn a_damaged_chunk_prevents_the_switch() {
    let scene = Scene::new(3);
    let path = scene.world.path().join("chunks/0.0.region.bin");
    let mut bytes = std::fs::read(&path).unwrap();
    let position = bytes.windows(7).position(|found| found == b"chunk 1").unwrap();
    // The length before the frame.
    let frame = bytes[..position].windows(4).rposition(|found| found == [0x28, 0xB5, 0x2F, 0xFD]);
    bytes[frame.unwrap()] ^= 0xFF;
    write_file(&path, &bytes);
    let report = scene.run(&target()).unwrap();
    assert_eq!((report.copy.copied, report.is_switched), (2, false));
    assert_eq!(report.copy.findings.by_class(), &[(Class::Unreadable, 1)].into());
    assert_eq!(report.copy.findings.kept().first().unwrap().chunk, Some(at(1)));
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "the source is unchanged");
    let scene = Scene { options: scene.options.clone().skip_unreadable(true), ..scene };
    let report = scene.run(&target()).unwrap();
    assert_eq!((report.copy.already, report.is_switched), (2, true));
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "the source is unchanged");
}

#[test]
fn a_dry_run_checks_everything_and_writes_nothing() {
    let scene = Scene::new(3);
    let scene = Scene { options: scene.options.clone().dry_run(true), ..scene };
    let report = scene.run(&target()).unwrap();
    assert_eq!((report.copy.chunks, report.copy.copied, report.is_switched), (3, 0, false));
    assert_eq!(scene.providers(), ("Hytale".to_owned(), None));
    assert!(!scene.has_note() && scene.target.all_positions().unwrap().is_empty());
    scene.target.write(at(1), b"mine").unwrap();
    assert!(matches!(scene.run(&target()), Err(Error::TargetHasChunks { .. })));
    for wrong in ["Empty", "Migration", "x:Unknown"] {
        assert!(scene.run(&ProviderConfig::new(wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn region_files_are_never_migrated_onto_themselves() {
    let scene = Scene::new(5);
    let before = std::fs::read(scene.world.path().join("chunks/0.0.region.bin")).unwrap();
    for name in ["IndexedStorage", "Hytale", "Hytale"] {
        let report = scene.run(&ProviderConfig::new(name)).unwrap();
        assert_eq!((report.copy.copied, report.copy.already, report.is_switched), (0, 0, true));
        assert_eq!(scene.providers(), (name.to_owned(), Some(name.to_owned())));
    }
    assert_eq!(std::fs::read(scene.world.path().join("chunks/0.0.region.bin")).unwrap(), before);
}

#[test]
fn a_lazy_migration_is_finished_without_rewriting_migrated_chunks() {
    let scene = Scene::new(3);
    scene.target.write(at(1), b"newer").unwrap();
    let hytale = ProviderConfig::hytale();
    let lazy = ProviderConfig::migration(&[target(), hytale.clone()], &target());
    let resources = Resources::in_folder(&OsFileSystem, scene.world.path().join("resources"));
    resources.set_current_provider(&lazy).unwrap();
    let text = format!("{{\"ChunkStorage\": {}}}", lazy.to_json());
    write_file(&scene.world.path().join(CONFIG_FILE), text.as_bytes());
    let report = scene.run(&target()).unwrap();
    assert_eq!((report.copy.copied, report.copy.already, report.is_switched), (2, 1, true));
    assert_eq!(scene.target.read(at(1)).unwrap().unwrap(), b"newer");
    assert_eq!(scene.target.all_positions().unwrap(), [at(0), at(1), at(2)]);

    let unclear = ProviderConfig::migration(&[hytale], &target());
    let error = without_target(&unclear, &target()).unwrap_err().to_string();
    assert!(error.contains("put it first in Loaders"), "{error}");
}
