//! The bundles of all verbs, flipped and cut at many places. An undo never reports success with
//! less than everything restored.
//!
//! `HYWORLD_BUNDLES=all` uses all real worlds; figures are printed to stderr.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use super::*;
use hyworld::coords::ChunkRect;
use hyworld::maintenance::{Bundle, Confidence};
use hyworld::{Location, RepairOptions, RestoreOptions, UndeleteOptions, open_for_check};
use hyworld_testkit::damage::{RegionBytes, copy_folder};
use hyworld_testkit::shared;

/// How many places of a bundle are flipped, and at how many it is cut.
const PLACES: u64 = 200;

/// At how many of these places the damaged bundle is also undone.
const UNDONE: u64 = 4;

const VERBS: [&str; 8] =
    ["repair", "restore", "undelete", "trim", "compact", "seal", "unseal", "undo"];

/// A copy of a world, and the original.
struct Case<'a> {
    original: &'a Path,
    world: PathBuf,
}

impl Case<'_> {
    fn region_files(&self) -> Vec<PathBuf> {
        let location = Location::source(&self.world).unwrap();
        location.region_files().unwrap().into_iter().map(|(_, path)| path).collect()
    }

    /// Removes every fourth chunk, and destroys the frames of others.
    fn damage(&self, is_destroyed: bool) {
        let storage = RegionFiles::open(&self.world.join("chunks")).unwrap();
        let positions: Vec<_> = storage.positions().map(Result::unwrap).collect();
        for at in positions.into_iter().step_by(4).take(20) {
            storage.remove(at).unwrap();
        }
        drop(storage);
        for path in self.region_files().into_iter().filter(|_| is_destroyed) {
            let mut file = RegionBytes::open(&path);
            for slot in file.slots().into_iter().step_by(5).take(10) {
                let at = file.blob_offset(slot) + 12;
                file.bytes[at..at + 20].fill(0xee);
            }
            file.save();
        }
    }

    fn pack(&self, packing: Packing) -> Option<PathBuf> {
        let scan = ScanOptions::new();
        let world = open_for_check(&self.world).unwrap();
        applied(&world, &world.plan_packing(packing, &scan, &NoProgress).unwrap())
    }

    /// Prepares the world for a verb.
    fn prepare(&self, verb: &str) {
        match verb {
            "repair" => self.damage(true),
            "restore" | "undelete" | "compact" => self.damage(false),
            "unseal" | "undo" => drop(self.pack(Packing::Seal { level: 3 })),
            _ => {}
        }
    }

    /// Runs a verb. Returns its bundle; `None` if there was nothing to do.
    fn run(&self, verb: &str) -> Option<PathBuf> {
        let (scan, world) = (ScanOptions::new(), open_for_check(&self.world).unwrap());
        let from = self.original.to_owned();
        match verb {
            "repair" => {
                let from = vec![from];
                let options =
                    RepairOptions { from, trust_source: true, ..RepairOptions::default() };
                applied(&world, &world.plan_repair(&options, &scan, &NoProgress).unwrap())
            }
            "restore" => {
                let far = 100_000;
                let corners = [ChunkPos::new(-far, -far), ChunkPos::new(far, far)];
                let area = Some(ChunkRect::new(corners[0], corners[1]));
                let options =
                    RestoreOptions { from, area, trust_source: true, ..RestoreOptions::default() };
                applied(&world, &world.plan_restore(&options, &NoProgress).unwrap())
            }
            "undelete" => {
                let confidence = Some(Confidence::Low);
                let options = UndeleteOptions { all: true, confidence, ..Default::default() };
                applied(&world, &world.plan_undelete(&options, &scan, &NoProgress).unwrap())
            }
            "trim" => {
                let options = TrimOptions { include_touched: true, ..TrimOptions::default() };
                let mut found = |_: &_| {};
                let plan = world.plan_trim(&options, &scan, &mut found, &NoProgress).unwrap();
                applied(&world, &plan)
            }
            "compact" => self.pack(Packing::Compact { level: None, drop_orphans: true }),
            "seal" => self.pack(Packing::Seal { level: 3 }),
            "unseal" => self.pack(Packing::Unseal { level: 3 }),
            _ => {
                let name = self.world.file_name().unwrap().to_str().unwrap();
                let sealed = self.world.with_file_name(format!("{name}-seal-1.hyundo"));
                undo(&sealed, None).unwrap().bundle
            }
        }
    }
}

/// The bundle of a verb, with the world before and after.
struct Changed {
    bundle: PathBuf,
    world: PathBuf,
    before: BTreeMap<PathBuf, Vec<u8>>,
    after: BTreeMap<PathBuf, Vec<u8>>,
}

impl Changed {
    fn reset(&self) {
        fs::remove_dir_all(&self.world).unwrap();
        fs::create_dir(&self.world).unwrap();
        for (path, bytes) in &self.after {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            hyworld_testkit::write_file(path, bytes);
        }
    }

    /// Checks a damaged bundle. Returns whether it could be opened.
    fn check(&self, is_undone: bool, what: &str) -> bool {
        let Ok(opened) = Bundle::open(&self.bundle) else { return false };
        if opened.findings().total() > 0 && !is_undone {
            return true;
        }
        self.reset();
        let Ok(report) = undo(&self.bundle, None) else { return true };
        assert!(report.findings.total() > 0, "{what}: reported as undone completely");
        for (path, bytes) in files(&self.world) {
            let is_region = path.to_str().unwrap().ends_with(".region.bin");
            let known = [self.before.get(&path), self.after.get(&path)];
            let is_known = known.contains(&Some(&bytes));
            assert!(is_region || is_known, "{what}: {}: neither old nor new", path.display());
        }
        true
    }

    /// Flips a bit at many places and cuts at many. Returns how many bundles could be opened.
    fn damage_everywhere(&self) -> [usize; 2] {
        let bytes = fs::metadata(&self.bundle).unwrap().len();
        let places = (0..PLACES).map(|number| number * (bytes - 1) / (PLACES - 1));
        let mut opened = [0; 2];
        let is_undone = |number: u64| number % (PLACES / UNDONE) == 7;
        let mut file = File::options().read(true).write(true).open(&self.bundle).unwrap();
        for (number, place) in (0..).zip(places.clone()) {
            let mut byte = [0];
            file.seek(SeekFrom::Start(place)).unwrap();
            file.read_exact(&mut byte).unwrap();
            let flipped = [byte[0] ^ (1 << (place % 8))];
            for (byte, is_flipped) in [(flipped, true), (byte, false)] {
                file.seek(SeekFrom::Start(place)).unwrap();
                file.write_all(&byte).unwrap();
                if is_flipped {
                    let what = format!("flipped at {place} of {bytes}");
                    opened[0] += usize::from(self.check(is_undone(number), &what));
                }
            }
        }
        for (number, place) in (0..).zip(places).collect::<Vec<_>>().into_iter().rev() {
            file.set_len(place).unwrap();
            let what = format!("cut at {place} of {bytes}");
            opened[1] += usize::from(self.check(is_undone(number), &what));
        }
        opened
    }
}

fn check_verb(original: &Path, verb: &str) {
    let folder = tempfile::tempdir().unwrap();
    let world = folder.path().join("w");
    copy_folder(original, &world);
    let case = Case { original, world: world.clone() };
    case.prepare(verb);
    let before = files(&world);
    let Some(bundle) = case.run(verb) else {
        report(&format!("{}: {verb}: nothing to do", original.display()));
        return;
    };
    let changed = Changed { bundle, before, after: files(&world), world };
    assert_eq!(undo(&changed.bundle, None).unwrap().findings.total(), 0, "{verb}");
    assert!(files(&changed.world) == changed.before, "{verb}: undoing restores every byte");
    let bytes = fs::metadata(&changed.bundle).unwrap().len();
    let [flipped, cut] = changed.damage_everywhere();
    let name = original.display();
    report(&format!(
        "{name}: {verb}: bundle of {bytes} bytes; {PLACES} flips ({flipped} opened) and {PLACES} \
         cuts ({cut} opened), 0 reported as undone completely"
    ));
}

fn report(line: &str) {
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).unwrap();
}

#[test]
fn damaged_bundles_of_every_verb_are_never_undone_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let save = Save::create(folder.path().join("save"), "Rock_Stone");
    for verb in VERBS {
        check_verb(&save.world(), verb);
    }
}

#[test]
fn damaged_bundles_of_real_worlds_are_never_undone_in_silence() {
    let Some(worlds) = shared("worlds") else { return };
    let is_all = std::env::var("HYWORLD_BUNDLES").is_ok_and(|value| value == "all");
    let all = [
        "ocean-2026-01",
        "explored-2026-01",
        "flat-2026-02",
        "adventure-2026-06",
        "converted-2026-04/universe/worlds/default",
        "converted-2026-04/universe/worlds/map2",
        "spaceship-2026-02/Server/Instances/Orbis_Galactic_Spaceship",
    ];
    for world in all.into_iter().take(if is_all { all.len() } else { 1 }) {
        let world = hyworld::find_world(&worlds.join(world)).unwrap();
        for verb in VERBS {
            check_verb(&world, verb);
        }
    }
}
