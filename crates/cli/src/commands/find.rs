//! `find WORLD --block NAME ...`: prints where something is.

use std::collections::{BTreeMap, BinaryHeap};
use std::io::Write;

use hyworld::{Location, find_in_players, find_universe};
use hyworld_coords::{ChunkPos, ColumnPos};
use hyworld_maintenance::{ChunkSet, Finding, Glob, Match, MatchKind, ScanOptions, Wanted, find};
use hyworld_providers::{ChunkStorage, Positions};
use serde::Serialize;

use super::select;
use crate::args::query::FindArgs;
use crate::exit::{self, Exit};
use crate::output::progress::ChunkProgress;
use crate::output::unread::Unread;
use crate::output::{Console, json, text};

/// The maximum number of matches that `--near` sorts.
const SORTED_MAX: usize = 1_000_000;

/// A number of matches. Printed with `--count`.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the keys of the JSON")]
struct Count {
    kind: MatchKind,
    id: String,
    matches: u64,
    count: i64,
}

pub(super) fn run(args: &FindArgs, console: &mut Console) -> anyhow::Result<Exit> {
    let location = Location::source(&args.path)?;
    let storage = location.open()?;
    let (chosen, mut exit) = select::chosen_chunks(&args.selection, &location, &*storage, console)?;
    let wanted = wanted(args);
    let mut output = Output::new(args);
    let mut written = Ok(());
    let mut unread = Unread::new("is not searched");
    let bar = ChunkProgress::new(console, "searching", chosen.as_ref().map(ChunkSet::len));
    let options = ScanOptions::new().jobs(console.jobs());
    let mut add = |found: &Match| {
        written = output.add(found, console);
        written.is_ok() && !output.is_full()
    };
    let mut problem = |finding: &Finding| unread.add(finding);
    let (of_players, missed) = of_players(&location, chosen.as_ref(), &wanted)?;
    if of_players.iter().all(&mut add) {
        find(
            &*storage,
            positions(&*storage, chosen.as_ref()),
            &wanted,
            &options,
            &mut add,
            &mut problem,
            &bar,
        );
    }
    drop(bar);
    written?;
    for reason in &missed {
        exit::complain(&exit::problem(reason.clone()));
    }
    let are = ["is not searched completely", "are not searched completely"];
    if unread.finish(are) || !missed.is_empty() {
        exit = exit.max(Exit::Problems);
    }
    output.finish(console)?;
    Ok(exit)
}

fn wanted(args: &FindArgs) -> Wanted {
    let globs = |patterns: &[String]| patterns.iter().map(|pattern| Glob::new(pattern)).collect();
    Wanted {
        blocks: globs(&args.blocks),
        fluids: globs(&args.fluids),
        block_entities: globs(&args.block_entities),
        items: globs(&args.items),
        entities: globs(&args.entities),
        texts: globs(&args.texts),
    }
}

fn positions<'a>(storage: &'a dyn ChunkStorage, chosen: Option<&'a ChunkSet>) -> Positions<'a> {
    match chosen {
        Some(chunks) => Box::new(chunks.iter().map(Ok)),
        None => storage.positions(),
    }
}

/// Finds items in the inventories of players. With a selection, only players in its chunks count.
fn of_players(
    location: &Location,
    chosen: Option<&ChunkSet>,
    wanted: &Wanted,
) -> anyhow::Result<(Vec<Match>, Vec<String>)> {
    let world = location.world_folder();
    let universe = world.as_deref().and_then(|world| find_universe(world.parent()?.parent()?).ok());
    let (Some(world), Some(universe)) = (world, universe) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let (mut found, problems) = find_in_players(&universe, &world, wanted)?;
    if let Some(chunks) = chosen {
        found.retain(|found| chunk_of(found).is_some_and(|at| chunks.contains(at)));
    }
    Ok((found, problems))
}

fn chunk_of(found: &Match) -> Option<ChunkPos> {
    let axis = |at: Option<i64>| i32::try_from(at?.div_euclid(32)).ok();
    Some(ChunkPos::new(axis(found.x)?, axis(found.z)?))
}

/// Prints matches, or collects them for `--near` and `--count`.
struct Output<'a> {
    args: &'a FindArgs,
    matches: u64,
    /// The nearest matches so far; the farthest of them is replaced first.
    nearest: BinaryHeap<Near>,
    counts: BTreeMap<(MatchKind, String), (u64, i64)>,
}

/// A match with its distance. Matches at the same distance stay in the order of the world.
struct Near {
    distance: i128,
    number: u64,
    found: Match,
}

impl PartialEq for Near {
    fn eq(&self, other: &Self) -> bool {
        (self.distance, self.number) == (other.distance, other.number)
    }
}

impl Eq for Near {}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Near {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.distance, self.number).cmp(&(other.distance, other.number))
    }
}

impl<'a> Output<'a> {
    fn new(args: &'a FindArgs) -> Self {
        Self { args, matches: 0, nearest: BinaryHeap::new(), counts: BTreeMap::new() }
    }

    /// Returns whether the limit is reached. Sorting needs all matches.
    fn is_full(&self) -> bool {
        self.args.near.is_none() && self.args.limit.is_some_and(|limit| self.matches >= limit)
    }

    fn add(&mut self, found: &Match, console: &mut Console) -> anyhow::Result<()> {
        if self.is_full() {
            return Ok(());
        }
        self.matches = self.matches.saturating_add(1);
        if self.args.count {
            let sums = self.counts.entry((found.kind, found.id.clone())).or_default();
            *sums = (sums.0.saturating_add(1), sums.1.saturating_add(found.count));
            return Ok(());
        }
        let Some(center) = self.args.near else { return self.write(found, console) };
        let limit = self.args.limit.and_then(|limit| usize::try_from(limit).ok());
        let limit = limit.unwrap_or(SORTED_MAX).min(SORTED_MAX);
        let distance = distance(found, center);
        let is_nearer = self.nearest.peek().is_none_or(|farthest| distance < farthest.distance);
        if self.nearest.len() < limit || is_nearer {
            self.nearest.push(Near { distance, number: self.matches, found: found.clone() });
        }
        if self.nearest.len() > limit {
            self.nearest.pop();
        }
        Ok(())
    }

    fn write(&self, found: &Match, console: &mut Console) -> anyhow::Result<()> {
        if self.args.json {
            return json::line(console, found);
        }
        let at = match (found.x, found.y, found.z) {
            (Some(x), Some(y), Some(z)) => format!("{x} {y} {z}"),
            _ => "-".to_owned(),
        };
        let kind = text::printable(&kind_name(found.kind));
        let id = text::printable(&found.id);
        let count = if found.kind == MatchKind::Item {
            format!("{} x ", found.count)
        } else {
            String::new()
        };
        let holder =
            found.holder.as_deref().map(|holder| format!("  in {}", text::printable(holder)));
        writeln!(console, "{kind:<12}  {at:<20}  {count}{id}{}", holder.unwrap_or_default())?;
        Ok(())
    }

    fn finish(mut self, console: &mut Console) -> anyhow::Result<()> {
        let nearest = self.nearest.len() as u64;
        for near in std::mem::take(&mut self.nearest).into_sorted_vec() {
            self.write(&near.found, console)?;
        }
        for ((kind, id), (matches, count)) in std::mem::take(&mut self.counts) {
            if self.args.json {
                json::line(console, &Count { kind, id, matches, count })?;
            } else {
                let (kind, id) = (kind_name(kind), text::printable(&id));
                let number = text::thousands(u64::try_from(count).unwrap_or_default());
                writeln!(console, "{kind:<12}  {number:>14}  {id}")?;
            }
        }
        let matches = match self.matches {
            1 => "1 match".to_owned(),
            number => format!("{} matches", text::thousands(number)),
        };
        if nearest > 0 && nearest < self.matches {
            let shown = text::thousands(nearest);
            console.say(format_args!("{matches}; only the nearest {shown} are shown"))?;
        } else if self.is_full() {
            console.say(format_args!("{matches}; stopped at --limit, there may be more"))?;
        } else {
            console.say(format_args!("{matches}"))?;
        }
        Ok(())
    }
}

fn kind_name(kind: MatchKind) -> String {
    match kind {
        MatchKind::BlockEntity => "block entity".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// Returns the square of the horizontal distance. Matches without a position are last.
fn distance(found: &Match, center: ColumnPos) -> i128 {
    let axis = |at: Option<i64>, center: i32| {
        let distance = i128::from(at?) - i128::from(center);
        Some(distance * distance)
    };
    let both = axis(found.x, center.x).zip(axis(found.z, center.z));
    both.map_or(i128::MAX, |(x, z)| x + z)
}
