//! Assigns orphans to slots by their borders.

use std::collections::{HashMap, HashSet};

use hyworld_coords::{ChunkPos, ChunkRect};

use super::report::{Confidence, PositionEvidence};
use crate::scan::{ScanOptions, scan_items};
use crate::seam::{Edges, Score, Side, fit_with_neighbours, similarity};

/// The minimum similarity of two versions of a chunk whose borders have detail. Different chunks of
/// natural terrain reach 0.85.
const VERSION_MIN: f64 = 0.92;
/// The minimum for borders with little detail, as in flat worlds. Different chunks reach 0.99.
const FLAT_VERSION_MIN: f64 = 0.995;

/// The minimum score of a position.
const SCORE_MIN: f64 = 0.4;
/// Orphans are assigned in rounds. Each round uses the first of these margins that any orphan
/// reaches, and assigns those whose best slot is better than the next best by at least that margin.
const MARGINS: [f64; 4] = [0.15, 0.08, 0.03, 0.0];

/// The score and the margin for a high confidence, and the margin for a medium one.
const HIGH_SCORE: f64 = 0.65;
const HIGH_MARGIN: f64 = 0.1;
const MEDIUM_MARGIN: f64 = 0.04;

/// A slot with few neighbours is more likely to fit by chance. For ranking, each slot therefore has
/// an imaginary neighbour with this score and the weight of half a neighbour.
const CHANCE_SCORE: f64 = 0.4;
const CHANCE_SIDES: f64 = 0.5;

/// An orphan that may need a position.
pub(super) struct Candidate<'a> {
    /// Identifies the orphan for the caller.
    pub(super) number: usize,
    pub(super) edges: &'a Edges,
    /// Its position if it is known already; then it is only used as a neighbour.
    pub(super) position: Option<ChunkPos>,
}

/// An orphan with its position.
pub(super) struct Assigned {
    pub(super) number: usize,
    pub(super) at: ChunkPos,
    pub(super) confidence: Confidence,
    pub(super) evidence: PositionEvidence,
}

/// Versions of one chunk.
struct Group<'a> {
    edges: &'a Edges,
    numbers: Vec<usize>,
    /// The scores at the free slots, in their order.
    scores: Vec<Option<Score>>,
}

/// Determines the positions of the candidates without one. `stored` are the borders of readable
/// chunks in and around `region`.
pub(super) fn assign_positions(
    stored: &HashMap<ChunkPos, Edges>,
    region: ChunkRect,
    candidates: &[Candidate<'_>],
    options: &ScanOptions,
) -> Vec<Assigned> {
    let mut known: HashMap<_, _> = stored.iter().map(|(at, edges)| (*at, edges)).collect();
    let free: Vec<_> = region.in_rows().filter(|at| !known.contains_key(at)).collect();
    for candidate in candidates {
        if let Some(at) = candidate.position {
            known.entry(at).or_insert(candidate.edges);
        }
    }
    let (mut placed, mut unplaced) = (Vec::new(), Vec::new());
    let unknown = candidates.iter().filter(|candidate| candidate.position.is_none());
    let items = unknown.map(|candidate| (0, candidate));
    let options = options.clone().ordered(true);
    let find = |one| (one, version_of(one, &known, region));
    let _ended = scan_items(items, &options, find, |(candidate, version)| match version {
        Some(version) => placed.push(version),
        None => unplaced.push(candidate),
    });
    let mut slots = Slots { taken: HashSet::new(), free, known };
    let mut groups = groups(&unplaced);
    let numbers: Vec<_> = (0..slots.free.len()).collect();
    let rows = groups.iter().map(|group| (0, group.edges));
    let mut scores = Vec::with_capacity(groups.len());
    let score = |edges| slots.scores(edges, &numbers);
    let _ended = scan_items(rows, &options, score, |row| scores.push(row));
    groups.iter_mut().zip(scores).for_each(|(group, scores)| group.scores = scores);
    placed.extend(slots.assign(groups));
    placed
}

/// Returns the position of the chunk of which an orphan is another version.
fn version_of(
    candidate: &Candidate<'_>,
    known: &HashMap<ChunkPos, &Edges>,
    region: ChunkRect,
) -> Option<Assigned> {
    let inside = known.iter().filter(|(at, _)| region.contains(**at));
    let mut scores: Vec<_> =
        inside.map(|(at, edges)| (similarity(candidate.edges, edges), *at)).collect();
    scores.sort_by(|(a, _), (b, _)| b.score.total_cmp(&a.score));
    let (best, at) = scores.first().filter(|(best, _)| is_version(best))?;
    let next_best = scores.get(1).map_or(0.0, |(next, _)| next.score);
    let confidence = match best.score - next_best {
        margin if margin >= HIGH_MARGIN && best.is_evidence() => Confidence::High,
        margin if margin > 0.0 => Confidence::Medium,
        _ => Confidence::Low,
    };
    let evidence = PositionEvidence::OtherVersion { similarity: best.score, next_best };
    Some(Assigned { number: candidate.number, at: *at, confidence, evidence })
}

/// Returns whether two chunks with this similarity are versions of one chunk.
fn is_version(found: &Score) -> bool {
    if found.is_evidence() {
        return found.score >= VERSION_MIN;
    }
    // In a flat world, borders without any detail are all equal.
    found.score >= FLAT_VERSION_MIN && found.detail > 0
}

/// Joins the orphans that are versions of one chunk.
fn groups<'a>(candidates: &[&Candidate<'a>]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for candidate in candidates {
        let same = |group: &&mut Group<'_>| is_version(&similarity(group.edges, candidate.edges));
        match groups.iter_mut().find(same) {
            Some(group) => group.numbers.push(candidate.number),
            None => groups.push(Group {
                edges: candidate.edges,
                numbers: vec![candidate.number],
                scores: Vec::new(),
            }),
        }
    }
    groups
}

/// The free slots of a region and the chunks around them.
struct Slots<'a> {
    free: Vec<ChunkPos>,
    taken: HashSet<usize>,
    known: HashMap<ChunkPos, &'a Edges>,
}

/// The best slot of a group.
#[derive(Clone, Copy)]
struct Claim {
    group: usize,
    slot: usize,
    score: Score,
    rank: f64,
    next_best: f64,
}

impl<'a> Slots<'a> {
    fn scores(&self, edges: &Edges, slots: &[usize]) -> Vec<Option<Score>> {
        let score = |slot: &usize| {
            let at = *self.free.get(*slot)?;
            let neighbours = Side::ALL.map(|side| self.known.get(&side.neighbour(at)?).copied());
            fit_with_neighbours(edges, neighbours)
        };
        slots.iter().map(score).collect()
    }

    /// Assigns the groups with the clearest best slot first, because they become neighbours of
    /// the others.
    fn assign(&mut self, mut groups: Vec<Group<'a>>) -> Vec<Assigned> {
        let mut placed = Vec::new();
        loop {
            let claims: Vec<_> = groups
                .iter()
                .enumerate()
                .filter_map(|(number, group)| self.claim(number, group))
                .collect();
            let winners = MARGINS.iter().map(|margin| winners(&claims, *margin));
            let Some(winners) = winners.into_iter().find(|winners| !winners.is_empty()) else {
                return placed;
            };
            let mut affected = HashSet::new();
            for claim in &winners {
                self.taken.insert(claim.slot);
                let Some(group) = groups.get(claim.group) else { continue };
                let Some(&at) = self.free.get(claim.slot) else { continue };
                self.known.insert(at, group.edges);
                affected.extend(Side::ALL.into_iter().filter_map(|side| side.neighbour(at)));
                placed.extend(group.numbers.iter().map(|number| claim.placed(*number, at)));
            }
            let mut won: Vec<_> = winners.iter().map(|claim| claim.group).collect();
            won.sort_unstable();
            won.into_iter().rev().for_each(|group| drop(groups.swap_remove(group)));
            self.update(&mut groups, &affected);
        }
    }

    /// Computes the scores at slots that got a new neighbour.
    fn update(&self, groups: &mut [Group<'_>], affected: &HashSet<ChunkPos>) {
        let slots = self.free.iter().enumerate().filter(|(_, at)| affected.contains(at));
        let slots: Vec<_> = slots.map(|(slot, _)| slot).collect();
        for group in groups {
            let scores = self.scores(group.edges, &slots);
            for (slot, score) in slots.iter().zip(scores) {
                if let Some(old) = group.scores.get_mut(*slot) {
                    *old = score;
                }
            }
        }
    }

    fn claim(&self, number: usize, group: &Group<'_>) -> Option<Claim> {
        let free = group.scores.iter().enumerate().filter(|(slot, _)| !self.taken.contains(slot));
        let scores = free.filter_map(|(slot, score)| Some((slot, (*score)?)));
        let mut claim: Option<Claim> = None;
        for (slot, score) in scores {
            let rank = rank(&score);
            match &mut claim {
                Some(best) if rank <= best.rank => best.next_best = best.next_best.max(rank),
                _ => {
                    let next_best = claim.map_or(0.0, |best| best.rank);
                    claim = Some(Claim { group: number, slot, score, rank, next_best });
                }
            }
        }
        claim.filter(|claim| claim.score.score >= SCORE_MIN)
    }
}

fn rank(score: &Score) -> f64 {
    let sides = f64::from(score.sides);
    (score.score * sides + CHANCE_SCORE * CHANCE_SIDES) / (sides + CHANCE_SIDES)
}

/// Returns the best claim for each slot among those with a margin.
fn winners(claims: &[Claim], margin: f64) -> Vec<Claim> {
    let mut best: HashMap<usize, Claim> = HashMap::new();
    for claim in claims.iter().filter(|claim| claim.rank - claim.next_best >= margin) {
        let known = best.entry(claim.slot).or_insert(*claim);
        if claim.rank > known.rank {
            *known = *claim;
        }
    }
    best.into_values().collect()
}

impl Claim {
    fn placed(&self, number: usize, at: ChunkPos) -> Assigned {
        let margin = self.rank - self.next_best;
        let has_evidence = self.score.is_evidence();
        let confidence = match self.score.score {
            score if score >= HIGH_SCORE && margin >= HIGH_MARGIN && has_evidence => {
                Confidence::High
            }
            _ if margin >= MEDIUM_MARGIN && has_evidence => Confidence::Medium,
            _ => Confidence::Low,
        };
        let evidence = PositionEvidence::Neighbours {
            score: self.score.score,
            next_best: self.next_best,
            sides: self.score.sides,
            cells: self.score.cells,
        };
        Assigned { number, at, confidence, evidence }
    }
}
