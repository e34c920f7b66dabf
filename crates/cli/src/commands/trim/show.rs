//! The plan of `trim` as text, as a small map and as a picture.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use hyworld::{OutputKind, Trim, check_output};
use hyworld_coords::ChunkPos;

use crate::exit;
use crate::output::plot::SOFTWARE;
use crate::output::{Console, text};

/// The maximum width and height of the map, in characters. A character is twice as high as wide.
const MAP_CHARS: (i64, i64) = (72, 24);

/// The maximum side of the picture, in chunks. One chunk is one pixel, or several if they fit.
const PICTURE_CHUNKS: i64 = 8192;

/// How many markers are listed.
const LISTED: usize = 10;

const KEPT: [u8; 3] = [40, 120, 60];
const REMOVED: [u8; 3] = [200, 70, 50];
const NOT_STORED: [u8; 3] = [255, 255, 255];

pub(super) fn plan(console: &mut Console, plan: &Trim, ring: u32) -> anyhow::Result<()> {
    let (stored, removed) = (plan.stored.len(), plan.removed.len());
    let share = text::share(removed, stored);
    console.report(format_args!(
        "{}: {} of {} can be removed ({share}), {}",
        plan.location(),
        text::thousands(removed),
        text::count(stored, "chunk"),
        text::size(plan.bytes)
    ))?;
    let kept = &plan.kept;
    let reasons = [
        (kept.touched.len(), "touched by players"),
        (kept.spawn.len(), "around spawn"),
        (kept.players.len(), "with players or respawn points"),
        (kept.claims.len(), "claimed"),
        (kept.chosen.len(), "chosen with --keep"),
        (kept.unreadable.len(), "that cannot be read"),
    ];
    for (count, reason) in reasons.into_iter().filter(|(count, _)| *count > 0) {
        console.report(format_args!("  keeps {} {reason}", text::count(count, "chunk")))?;
    }
    if reasons.iter().any(|(count, _)| *count > 0) {
        console.report(format_args!("  and {} around each of them", text::count(ring, "chunk")))?;
    }
    if !plan.is_spawn_known {
        let advice = "its generator chooses it; protect it with --keep";
        console.report(format_args!("  note: the spawn point is not stored: {advice}"))?;
    }
    if !plan.files.is_empty() {
        let files = text::count(plan.files.len() as u64, "region file");
        console.report(format_args!("  removes {files} without other chunks"))?;
    }
    for (kind, at) in plan.pointing.iter().take(LISTED) {
        let (x, z) = (at.x.floor(), at.z.floor());
        console.report(format_args!(
            "  note: {kind} {} at {x},{z} will point to new terrain",
            at.name
        ))?;
    }
    if let more @ 1.. = plan.pointing.len().saturating_sub(LISTED) {
        console.report(format_args!("  note: {more} more markers"))?;
    }
    for problem in &plan.problems {
        console.say(format_args!("note: {problem}"))?;
    }
    write_map(console, plan)
}

/// Writes a small map: `#` kept, `.` removed, `+` both.
fn write_map(console: &mut Console, plan: &Trim) -> anyhow::Result<()> {
    let Some(area) = plan.stored.bounds() else { return Ok(()) };
    let (min, max) = (area.min(), area.max());
    let width = i64::from(max.x) - i64::from(min.x) + 1;
    let height = i64::from(max.z) - i64::from(min.z) + 1;
    // Chunks for each character along x, and twice as many along z.
    let step = ceil(width, MAP_CHARS.0).max(ceil(height, MAP_CHARS.1 * 2)).max(1);
    let mut cells: BTreeMap<(i64, i64), (bool, bool)> = BTreeMap::new();
    for at in plan.stored.iter() {
        let column = (i64::from(at.x) - i64::from(min.x)) / step;
        let row = (i64::from(at.z) - i64::from(min.z)) / (step * 2);
        let cell = cells.entry((row, column)).or_default();
        if plan.removed.contains(at) { cell.1 = true } else { cell.0 = true }
    }
    console
        .report(format_args!("  # kept   . removed   + both; {step} x {} chunks each", step * 2))?;
    for row in 0..ceil(height, step * 2) {
        let sign = |column: i64| match cells.get(&(row, column)) {
            None => ' ',
            Some((true, true)) => '+',
            Some((true, false)) => '#',
            Some((false, _)) => '.',
        };
        let line: String = (0..ceil(width, step)).map(sign).collect();
        console.report(format_args!("  {}", line.trim_end()))?;
    }
    Ok(())
}

fn ceil(number: i64, by: i64) -> i64 {
    number.div_euclid(by) + i64::from(number.rem_euclid(by) > 0)
}

/// Draws kept chunks in green and removed ones in red.
pub(super) fn picture(plan: &Trim, file: &Path) -> anyhow::Result<()> {
    check_output(file, OutputKind::Png)?;
    let Some(area) = plan.stored.bounds() else {
        return Err(exit::problem("the world has no chunks, so there is no picture"));
    };
    let (width, depth) = (i64::try_from(area.width())?, i64::try_from(area.depth())?);
    if width.max(depth) > PICTURE_CHUNKS {
        return Err(exit::usage(format!("{width} x {depth} chunks are too many for a picture")));
    }
    let scale = (1024 / width.max(depth)).clamp(1, 16);
    let failed = || format!("{}: cannot write", file.display());
    let out = BufWriter::new(File::create(file).with_context(failed)?);
    let (pixels, rows) = (u32::try_from(width * scale)?, u32::try_from(depth * scale)?);
    let mut encoder = png::Encoder::new(out, pixels, rows);
    encoder.set_color(png::ColorType::Rgb);
    encoder.add_text_chunk("Software".to_owned(), SOFTWARE.to_owned()).with_context(failed)?;
    let mut writer = encoder.write_header().with_context(failed)?;
    let mut stream = writer.stream_writer().with_context(failed)?;
    for z in area.min().z..=area.max().z {
        let mut row = Vec::new();
        for x in area.min().x..=area.max().x {
            let color = color(plan, ChunkPos::new(x, z));
            (0..scale).for_each(|_| row.extend(color));
        }
        for _ in 0..scale {
            stream.write_all(&row).with_context(failed)?;
        }
    }
    stream.finish().with_context(failed)?;
    Ok(())
}

fn color(plan: &Trim, at: ChunkPos) -> [u8; 3] {
    if plan.removed.contains(at) {
        REMOVED
    } else if plan.stored.contains(at) {
        KEPT
    } else {
        NOT_STORED
    }
}
