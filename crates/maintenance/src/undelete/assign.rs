//! Determines the positions of orphans from all evidence that there is.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use hyworld_coords::{ChunkPos, ChunkRect};

use super::fit::{Fits, Placed};
use super::pieces::{Pieces, VersionMatch};
use super::report::{Confidence, PositionEvidence};
use crate::scan::{ScanOptions, scan_items};
use crate::seam::Edges;

/// The pieces that an orphan must share with one stored chunk and no other to be a version of it,
/// and how many times more than with the next best chunk.
const SHARED_MIN: u32 = 32;
const SHARED_FACTOR: u32 = 8;

/// The same for a position that is only likely.
const LIKELY_MIN: u32 = 4;
const LIKELY_FACTOR: u32 = 2;

/// Coordinates that prove a position. A single entity may have been saved with a neighbouring
/// chunk.
const COORDINATES_MIN: usize = 2;

/// An orphan that may need a position.
pub(super) struct Candidate<'a> {
    /// Identifies the orphan for the caller.
    pub(super) number: usize,
    pub(super) edges: &'a Edges,
    pub(super) pieces: &'a Pieces,
    /// Its position if that is recorded with it: then it is evidence for others.
    pub(super) recorded: Option<ChunkPos>,
    /// The chunk that most of its coordinates are in.
    pub(super) coordinates: Option<Coordinates>,
    /// The only stored chunk with the same document.
    pub(super) same_document: Option<ChunkPos>,
}

/// What the world coordinates in an orphan say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Coordinates {
    pub(super) at: ChunkPos,
    /// Coordinates in that chunk, and all coordinates.
    pub(super) agreeing: usize,
    pub(super) total: usize,
}

/// An orphan with its position.
pub(super) struct Assigned {
    pub(super) number: usize,
    pub(super) at: ChunkPos,
    pub(super) confidence: Confidence,
    pub(super) evidence: PositionEvidence,
}

/// The chunks that orphans are compared with.
pub(super) struct Known<'a> {
    /// The borders of readable chunks in and around the region.
    pub(super) edges: HashMap<ChunkPos, &'a Edges>,
    /// The contents of the chunks of the region, as far as they can be read.
    pub(super) pieces: BTreeMap<ChunkPos, &'a Pieces>,
    /// Chunks whose index entry names a blob that another one names too: most have lost theirs.
    pub(super) lost: BTreeSet<ChunkPos>,
}

/// Determines the positions of the candidates without a recorded one.
///
/// What is decided with a high confidence becomes evidence for the rest, until nothing more is
/// decided.
pub(super) fn assign_positions<'a>(
    mut known: Known<'a>,
    region: ChunkRect,
    candidates: &'a [Candidate<'a>],
    options: &ScanOptions,
) -> Vec<Assigned> {
    let options = options.clone().ordered(true);
    for candidate in candidates {
        if let Some(at) = candidate.recorded {
            known.add(at, candidate);
        }
    }
    let mut open: Vec<_> = candidates.iter().filter(|one| one.recorded.is_none()).collect();
    let mut decided = decide_by_contents(&mut open, &mut known, &options);
    let edges = std::mem::take(&mut known.edges);
    let mut fits = Fits::new(region, edges, known.pieces.keys().copied().collect());
    let rows: Vec<_> = open.iter().map(|one| one.edges).collect();
    let mut rows = fits.rows(&rows, &options);
    loop {
        let mut changed = HashSet::new();
        let mut left = (Vec::new(), Vec::new());
        for (candidate, row) in open.into_iter().zip(rows) {
            let verdict = known.judge(candidate, fits.best(&row));
            match verdict.filter(|verdict| verdict.confidence >= Confidence::High) {
                Some(verdict) => {
                    changed.extend(fits.add(verdict.at, candidate.edges));
                    known.pieces.entry(verdict.at).or_insert(candidate.pieces);
                    decided.push(verdict);
                }
                None => left.extend([(candidate, row)]),
            }
        }
        (open, rows) = left;
        if changed.is_empty() {
            break;
        }
        rows.iter_mut().zip(&open).for_each(|(row, one)| fits.update(row, one.edges, &changed));
    }
    decided.extend(guess(&open, &rows, &known, &mut fits));
    decided
}

/// Decides by contents and coordinates until nothing more is decided. Removes from `open` what is
/// decided.
fn decide_by_contents<'a>(
    open: &mut Vec<&'a Candidate<'a>>,
    known: &mut Known<'a>,
    options: &ScanOptions,
) -> Vec<Assigned> {
    let mut decided = Vec::new();
    loop {
        let (mut found, mut left) = (Vec::new(), Vec::new());
        let items = open.iter().map(|one| (0, *one));
        let judge = |one: &'a Candidate<'a>| (one, known.judge(one, None));
        let _ended = scan_items(items, options, judge, |(one, verdict)| match verdict {
            Some(verdict) if verdict.confidence >= Confidence::High => found.push((one, verdict)),
            _ => left.push(one),
        });
        *open = left;
        let before = known.pieces.len();
        for (candidate, verdict) in found {
            known.add(verdict.at, candidate);
            decided.push(verdict);
        }
        if known.pieces.len() == before {
            return decided;
        }
    }
}

/// Chooses the most likely position of each remaining orphan, the clearest first. A free slot is
/// given to versions of one chunk only.
fn guess<'a>(
    open: &[&'a Candidate<'a>],
    rows: &[Vec<Option<crate::seam::Score>>],
    known: &Known<'_>,
    fits: &mut Fits<'a>,
) -> Vec<Assigned> {
    let mut order: Vec<_> = open.iter().zip(rows).collect();
    let margin = |row: &[_]| fits.best(row).map_or(0.0, |best| best.margin());
    order.sort_by(|(_, a), (_, b)| margin(b).total_cmp(&margin(a)));
    let mut taken: HashMap<ChunkPos, &Pieces> = HashMap::new();
    let mut guessed = Vec::new();
    for (candidate, row) in order {
        let is_open = |at: ChunkPos| {
            taken.get(&at).is_none_or(|other| other.similarity(candidate.pieces) >= 0.5)
        };
        let best = fits.best_of(row, is_open);
        let Some(verdict) = known.judge(candidate, best) else { continue };
        taken.entry(verdict.at).or_insert(candidate.pieces);
        guessed
            .push(Assigned { confidence: verdict.confidence.min(Confidence::Medium), ..verdict });
    }
    guessed
}

impl<'a> Known<'a> {
    fn add(&mut self, at: ChunkPos, candidate: &Candidate<'a>) {
        self.pieces.entry(at).or_insert(candidate.pieces);
        self.edges.entry(at).or_insert(candidate.edges);
    }

    /// Weighs the evidence for the position of an orphan.
    fn judge(&self, orphan: &Candidate<'_>, fit: Option<Placed>) -> Option<Assigned> {
        let known: Vec<_> = self.pieces.iter().map(|(at, pieces)| (*at, *pieces)).collect();
        let version = orphan.pieces.version_of(&known);
        let mut clues: Vec<Clue> = Vec::new();
        let lost = |at: ChunkPos| self.lost.contains(&at);
        clues.extend(orphan.coordinates.map(|found| Clue::of_coordinates(found, lost(found.at))));
        clues.extend(version.and_then(Clue::of_version));
        clues.extend(fit.map(Clue::of_fit));
        if let Some(at) = orphan.same_document {
            let is_proven = clues.iter().any(|clue| clue.is_proof && clue.at == at);
            let confidence = if is_proven { Confidence::Certain } else { Confidence::Low };
            let evidence = PositionEvidence::SameDocument;
            return Some(Assigned { number: orphan.number, at, confidence, evidence });
        }
        let (at, confidence, evidence) = weigh(&clues)?;
        Some(Assigned { number: orphan.number, at, confidence, evidence })
    }
}

/// One sign of the position of an orphan.
#[derive(Clone, Copy)]
struct Clue {
    at: ChunkPos,
    evidence: PositionEvidence,
    /// Sufficient on its own, unless another clue contradicts it.
    is_proof: bool,
    /// The confidence without any other clue.
    alone: Confidence,
}

impl Clue {
    /// A single coordinate is enough for a chunk that is known to be lost.
    fn of_coordinates(found: Coordinates, is_lost: bool) -> Self {
        let Coordinates { at, agreeing, total } = found;
        let is_proof = agreeing >= COORDINATES_MIN || is_lost;
        let evidence = PositionEvidence::Coordinates { agreeing, total };
        Self { at, evidence, is_proof, alone: Confidence::Medium }
    }

    fn of_version(found: VersionMatch) -> Option<Self> {
        let VersionMatch { at, shared, next_best, pieces } = found;
        let is_above = |min, factor| shared >= min && next_best.saturating_mul(factor) <= shared;
        let is_likely = is_above(LIKELY_MIN, LIKELY_FACTOR);
        let alone = if is_likely { Confidence::Medium } else { Confidence::Low };
        let evidence = PositionEvidence::OtherVersion { shared, next_best, pieces };
        let is_proof = is_above(SHARED_MIN, SHARED_FACTOR);
        (shared > 0).then_some(Self { at, evidence, is_proof, alone })
    }

    fn of_fit(found: Placed) -> Self {
        let evidence = PositionEvidence::Neighbours {
            score: found.score.score,
            next_best: found.next_best,
            sides: found.score.sides,
            cells: found.score.cells,
        };
        Self { at: found.at, evidence, is_proof: found.is_proof(), alone: found.confidence() }
    }
}

/// Returns the position that the clues agree on.
fn weigh(clues: &[Clue]) -> Option<(ChunkPos, Confidence, PositionEvidence)> {
    let proof = clues.iter().find(|clue| clue.is_proof);
    let strongest = clues.iter().max_by_key(|clue| clue.alone);
    let best = proof.or(strongest)?;
    let others = || clues.iter().filter(|clue| clue.at != best.at);
    let agreeing = clues.iter().filter(|clue| clue.at == best.at).count();
    let is_contradicted = others().any(|clue| clue.is_proof || clue.alone >= Confidence::Medium);
    let has_coordinates = matches!(best.evidence, PositionEvidence::Coordinates { .. });
    let confidence = match () {
        () if is_contradicted => Confidence::Low,
        () if best.is_proof || (has_coordinates && agreeing > 1) => Confidence::High,
        () => best.alone,
    };
    Some((best.at, confidence, best.evidence))
}
