//! Tiles of worlds: complete, and after changes equal to drawing everything again.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hyworld::chunk::Chunk;
use hyworld::color_assets::Colors;
use hyworld::coords::{ChunkBlock, ChunkBox, ChunkPos};
use hyworld::maintenance::{NoProgress, Progress, ScanOptions};
use hyworld::map_layers::{Layer, TILE_PIXELS, TileFormat, TileGrid};
use hyworld::providers::{ChunkStorage, ChunkStorageExt, RegionFiles};
use hyworld::{MapFolder, MapInput, PageTexts, TileOptions, TileReport, TileRun, draw_archive};

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: i32) -> i32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        i32::try_from((self.0 >> 33) % u64::try_from(end).unwrap()).unwrap()
    }
}

/// A chunk with ground at a height, and a pillar.
fn chunk(height: i32, pillar: i32) -> Vec<u8> {
    let mut chunk = Chunk::new();
    let height = u16::try_from(height).unwrap();
    let corner = |side, y| ChunkBlock::new(side, y, side).unwrap();
    chunk.fill(ChunkBox::new(corner(0, height), corner(31, height)), "Soil_Grass").unwrap();
    let pillar = u8::try_from(pillar).unwrap();
    let top = ChunkBlock::new(pillar, height + 5, pillar / 2).unwrap();
    chunk.set_block(top, "Rock_Stone").unwrap();
    chunk.encode()
}

fn options(layers: &[Layer]) -> TileOptions {
    TileOptions {
        layers: layers.to_vec(),
        grid: TileGrid::new(1).unwrap(),
        format: TileFormat::Webp,
        has_info: true,
        is_forced: false,
    }
}

struct World {
    storage: RegionFiles,
    folder: PathBuf,
}

impl World {
    fn new(folder: &Path) -> Self {
        let storage = RegionFiles::open(folder).unwrap();
        Self { storage, folder: folder.to_owned() }
    }

    fn write(&self, x: i32, z: i32, document: &[u8]) {
        self.storage.write(ChunkPos::new(x, z), document).unwrap();
    }

    fn run<T>(&self, options: &TileOptions, draw: impl FnOnce(TileRun<'_>) -> T) -> T {
        self.storage.sync().unwrap();
        let positions = self.storage.all_positions().unwrap();
        let files = self.storage.regions().unwrap().into_iter();
        let regions: Vec<_> =
            files.map(|region| (region, self.folder.join(region.file_name()))).collect();
        let (colors, scan) = (Colors::default(), ScanOptions::new());
        draw(TileRun {
            input: MapInput::new(&self.storage, &colors),
            positions: &positions,
            beside: &[],
            regions: &regions,
            options,
            scan: &scan,
        })
    }

    fn draw(&self, folder: &Path, options: &TileOptions) -> TileReport {
        let texts = PageTexts { name: "test".to_owned(), ..PageTexts::default() };
        let map = MapFolder::open(folder).unwrap();
        self.run(options, |run| map.draw(run, texts, &NoProgress).unwrap())
    }
}

/// Returns all files below a folder with their bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn tiles(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    files(&folder.join("tiles"))
}

const LAYERS: [Layer; 4] = [Layer::Surface, Layer::Height, Layer::Changes, Layer::Size];

#[test]
fn after_changes_exactly_the_tiles_that_differ_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(&folder.path().join("chunks"));
    let mut random = Random(3);
    for z in -18..3 {
        for x in -2..18 {
            world.write(x, z, &chunk(60 + random.below(9), random.below(32)));
        }
    }
    world.write(700, -300, &chunk(80, 3));
    let (map, options) = (folder.path().join("map"), options(&LAYERS));
    let first = world.draw(&map, &options);
    assert_eq!((first.skipped, first.rendered), (0, first.tiles));
    for round in 0..8 {
        let before = tiles(&map);
        for _ in 0..=random.below(3) {
            let (x, z) = (random.below(22) - 3, random.below(24) - 20);
            match random.below(4) {
                0 => drop(world.storage.remove(ChunkPos::new(x, z)).unwrap()),
                1 => world.write(x, z, b"not a chunk"),
                _ => world.write(x, z, &chunk(60 + random.below(40), random.below(32))),
            }
        }
        let report = world.draw(&map, &options);
        let again = folder.path().join(format!("again-{round}"));
        world.draw(&again, &options);
        let (now, expected) = (tiles(&map), tiles(&again));
        assert_eq!(now.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        assert!(now == expected, "round {round}: bytes differ");
        let differs = |name: &&String| before.get(*name) != now.get(*name);
        let changed: BTreeSet<String> = now.keys().filter(differs).cloned().collect();
        let written: BTreeSet<String> = report
            .written
            .iter()
            .map(|(layer, at)| {
                let ending = if layer == "info" { "js" } else { "webp" };
                format!("test/{layer}/{}/{}/{}.{ending}", at.level, at.x, at.z)
            })
            .collect();
        assert_eq!(written, changed, "round {round}");
        fs::remove_dir_all(&again).unwrap();
    }
}

#[test]
fn an_unchanged_world_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(&folder.path().join("chunks"));
    (0..40).for_each(|x| world.write(x, 5, &chunk(60, 3)));
    let (map, options) = (folder.path().join("map"), options(&[Layer::Height]));
    let first = world.draw(&map, &options);
    let second = world.draw(&map, &options);
    assert_eq!((second.rendered, second.skipped, second.written.len()), (0, first.tiles, 0));
    let forced = TileOptions { is_forced: true, ..options.clone() };
    let third = world.draw(&map, &forced);
    assert_eq!((third.rendered, third.written.len()), (first.tiles, 0), "the bytes are the same");
    // A tile that was removed or cut off is written again.
    let tile = map.join("tiles/test/height/0/0/0.webp");
    hyworld_testkit::write_file(&tile, b"cut");
    assert_eq!(world.draw(&map, &options).written.len(), 1);
    assert!(fs::metadata(&tile).unwrap().len() > 3);
}

/// Returns the numbers of hatched chunks and the problems, without the texts.
fn hatched(report: &TileReport) -> (u64, u64, Vec<(ChunkPos, bool)>) {
    let problems = report.problems.iter().map(|problem| (problem.at, problem.is_damaged));
    (report.damaged, report.newer, problems.collect())
}

#[test]
fn hatched_chunks_are_reported_by_every_run_until_they_change() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(&folder.path().join("chunks"));
    (0..40).for_each(|x| world.write(x, 5, &chunk(60, 3)));
    world.write(7, 5, b"not a chunk");
    world.write(33, 5, &hyworld_testkit::game_0_7_chunk());
    let (map, both) = (folder.path().join("map"), options(&[Layer::Surface, Layer::Height]));
    let first = world.draw(&map, &both);
    let (bad, newer) = (ChunkPos::new(7, 5), ChunkPos::new(33, 5));
    let expected = (1, 1, vec![(bad, true), (newer, false)]);
    assert_eq!(hatched(&first), expected);
    let second = world.draw(&map, &both);
    assert_eq!((second.rendered, hatched(&second)), (0, expected.clone()));
    assert_eq!(second.problems, first.problems);
    // The texts of another layer do not replace those of the first two.
    world.draw(&map, &options(&[Layer::Size]));
    assert_eq!(hatched(&world.draw(&map, &both)), expected);
    // Tiles that are drawn again forget the chunks that were replaced.
    world.write(7, 5, &chunk(61, 4));
    assert_eq!(hatched(&world.draw(&map, &both)), (0, 1, vec![(newer, false)]));
    assert!(world.storage.remove(newer).unwrap());
    assert_eq!(hatched(&world.draw(&map, &both)), (0, 0, Vec::new()));
}

#[test]
fn layers_can_be_added_later() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(&folder.path().join("chunks"));
    world.write(-1, 0, &chunk(60, 3));
    let map = folder.path().join("map");
    world.draw(&map, &options(&[Layer::Surface]));
    let report = world.draw(&map, &options(&[Layer::Slice(65)]));
    assert_eq!(report.written.len(), 1, "the information is current");
    let page = fs::read_to_string(map.join("worlds/test.js")).unwrap();
    assert!(
        page.contains(r#"[{"id":"surface","levels":1},{"id":"slice-65","levels":1}]"#),
        "{page}"
    );
    assert!(page.contains(r#""bounds":[-1,-1,0,0]"#), "{page}");
}

/// Sets a flag after some chunks.
struct StopAfter {
    left: AtomicU64,
    flag: Arc<AtomicBool>,
}

impl Progress for StopAfter {
    fn advance(&self, chunks: u64) {
        let left = self.left.load(Ordering::Relaxed).saturating_sub(chunks);
        self.left.store(left, Ordering::Relaxed);
        self.flag.store(left == 0, Ordering::Relaxed);
    }
}

#[test]
fn a_cancelled_drawing_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(&folder.path().join("chunks"));
    (0..120).for_each(|x| world.write(x, x / 2, &chunk(60 + x, 3)));
    let (whole, options) = (folder.path().join("whole"), options(&LAYERS));
    world.draw(&whole, &options);
    for chunks in [1, 20, 60, 119] {
        let map = folder.path().join(format!("map-{chunks}"));
        let flag = Arc::new(AtomicBool::new(false));
        let stop = StopAfter { left: AtomicU64::new(chunks), flag: Arc::clone(&flag) };
        let scan = ScanOptions::new().cancel(flag);
        let texts = PageTexts { name: "test".to_owned(), ..PageTexts::default() };
        let error = world.run(&options, |run| {
            let run = TileRun { scan: &scan, ..run };
            MapFolder::open(&map).unwrap().draw(run, texts, &stop).unwrap_err()
        });
        assert!(error.to_string().contains("drawing was stopped"), "{error}");
        world.draw(&map, &options);
        assert!(tiles(&map) == tiles(&whole), "stopped after {chunks} chunks");
    }
}

/// Draws the same map again while a drawing is in progress.
struct DrawAgain<'a> {
    draw: &'a (dyn Fn(&dyn Progress) -> hyworld::Result<TileReport> + Sync),
    error: Mutex<Option<hyworld::Error>>,
}

impl Progress for DrawAgain<'_> {
    fn advance(&self, _chunks: u64) {
        *self.error.lock().unwrap() = (self.draw)(&NoProgress).err();
    }
}

#[test]
fn two_programs_cannot_draw_one_map_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(&folder.path().join("chunks"));
    (0..3).for_each(|x| world.write(x, 0, &chunk(60, 3)));
    let options = TileOptions { has_info: false, ..options(&[Layer::Height]) };
    let (map, archive) = (folder.path().join("map"), folder.path().join("map.pmtiles"));
    let draw_folder = |progress: &dyn Progress| {
        let texts = PageTexts { name: "test".to_owned(), ..PageTexts::default() };
        world.run(&options, |run| MapFolder::open(&map)?.draw(run, texts, progress))
    };
    let draw_one_file = |progress: &dyn Progress| {
        world.run(&options, |run| draw_archive(&archive, run, "w", progress))
    };
    let draws: [&(dyn Fn(&dyn Progress) -> _ + Sync); 2] = [&draw_folder, &draw_one_file];
    for draw in draws {
        let again = DrawAgain { draw, error: Mutex::default() };
        draw(&again).unwrap();
        let error = again.error.into_inner().unwrap().unwrap();
        assert_eq!(error.kind(), hyworld::ErrorKind::InUse);
        assert!(error.to_string().contains("another program draws this map (process "), "{error}");
        assert_eq!(draw(&NoProgress).unwrap().written.len(), 0, "the lock is released");
    }
}

#[test]
fn an_interrupted_drawing_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(&folder.path().join("chunks"));
    (0..40).for_each(|x| world.write(x, x / 2, &chunk(60 + x, 3)));
    let (whole, options) = (folder.path().join("whole"), options(&LAYERS));
    world.draw(&whole, &options);
    let expected = tiles(&whole);
    // As after a kill: any number of the first tiles are written, the state is missing or old.
    for kept in (0..expected.len()).step_by(5) {
        let map = folder.path().join(format!("map-{kept}"));
        world.draw(&map, &options);
        fs::remove_file(map.join("state/test.json")).unwrap();
        for (name, _) in expected.iter().skip(kept) {
            fs::remove_file(map.join("tiles").join(name)).unwrap();
        }
        hyworld_testkit::write_file(&map.join("tiles/test/.hyworld-partial-9-9"), b"half");
        world.draw(&map, &options);
        assert!(tiles(&map) == expected, "{kept} tiles were kept");
    }
}

#[test]
fn overviews_show_everything_below() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(&folder.path().join("chunks"));
    for (x, z) in [(0, 0), (40, 0), (0, 40), (-33, -40)] {
        world.write(x, z, &chunk(319 - 5, 3));
    }
    let map = folder.path().join("map");
    world.draw(&map, &options(&[Layer::Size]));
    let read = |name: &str| {
        let bytes = fs::read(map.join("tiles/test/size").join(name)).unwrap();
        TileFormat::Webp.decode(&bytes).unwrap()
    };
    let visible = |pixels: &[u8]| pixels.as_chunks::<4>().0.iter().filter(|it| it[3] > 0).count();
    // One chunk of 32 pixels, then 16, then 8 on each side.
    assert_eq!(visible(&read("0/0/0.webp")), 32 * 32);
    assert_eq!(visible(&read("1/0/0.webp")), 16 * 16);
    assert_eq!(visible(&read("2/0/0.webp")), 3 * 8 * 8);
    let pixels = read("2/0/0.webp");
    let at = |x: usize, z: usize| pixels[4 * (z * TILE_PIXELS as usize + x) + 3];
    assert_eq!([at(0, 0), at(40 * 8, 0), at(0, 40 * 8), at(100, 100)], [255, 255, 255, 0]);
}

#[test]
fn archives_are_drawn_like_folders() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(&folder.path().join("chunks"));
    (0..40).for_each(|x| world.write(x, -x, &chunk(60 + x, 3)));
    let path = folder.path().join("map.pmtiles");
    let options = TileOptions { has_info: false, ..options(&[Layer::Height]) };
    let draw = || world.run(&options, |run| draw_archive(&path, run, "w", &NoProgress).unwrap());
    let first = draw();
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.starts_with(b"PMTiles\x03") && first.rendered == first.tiles);
    assert_eq!((draw().rendered, fs::read(&path).unwrap() == bytes), (0, true));
    world.write(3, -3, &chunk(200, 1));
    let changed = draw();
    assert_eq!(changed.written.len(), 3, "one tile of each of three levels: {changed:?}");
    fs::remove_file(&path).unwrap();
    draw();
    let all = fs::read(&path).unwrap();
    assert!(all.len() == fs::read(&path).unwrap().len() && all != bytes);
    let names: BTreeSet<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}
