//! Runs of consecutive cells with the same id, found several cells at a time.

use hyworld_coords::BLOCKS_PER_SECTION;

use super::cells::Cells;

/// Gets runs of cells in order.
///
/// The loop over the cells owns the visitor. If the visitor has no arrays and its method is always
/// inlined, the loop keeps its fields in registers, which a closure does not achieve.
pub(crate) trait VisitRuns {
    /// Gets the id or the index of a run, and its length.
    fn visit(&mut self, id: u16, len: u32);
}

impl VisitRuns for Vec<(u16, u32)> {
    #[inline]
    fn visit(&mut self, id: u16, len: u32) {
        self.push((id, len));
    }
}

impl Cells {
    /// Passes the runs that [`runs`](Self::runs) returns to a visitor, and returns the visitor.
    /// Faster for sections with many runs. An empty palette has no cells to visit.
    pub(super) fn visit_runs<V: VisitRuns>(&self, visitor: V) -> V {
        let words = self.as_bytes().as_chunks().0;
        match self {
            Self::Empty => visitor,
            Self::HalfByte(_) => visit_words::<4, V>(words, visitor),
            Self::Byte(_) => visit_words::<8, V>(words, visitor),
            Self::Short(_) => visit_words::<16, V>(words, visitor),
        }
    }

    /// Returns the runs in index order: the id of each run and the index after its last cell.
    /// Adjacent runs have different ids.
    pub(super) fn runs(&self) -> CellRuns<'_> {
        let (bits, uniform) = match self {
            Self::Empty => (4, Some((0, BLOCKS_PER_SECTION.into()))),
            Self::HalfByte(_) => (4, None),
            Self::Byte(_) => (8, None),
            Self::Short(_) => (16, None),
        };
        CellRuns::new(self.as_bytes(), bits, uniform)
    }
}

/// How many words are compared at once with a word of equal cells.
const SKIPPED_WORDS: usize = 8;

/// Visits the runs of cells of `BITS` bits, in the same way as [`CellRuns`].
#[inline]
fn visit_words<const BITS: u32, V: VisitRuns>(mut rest: &[[u8; 8]], mut visitor: V) -> V {
    let word_cells = const { 64 / BITS };
    let (mut start, mut end) = (0, 0_u32);
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let cells = u64::from_be_bytes(*word);
        end += word_cells;
        if cells.rotate_left(BITS) == cells && rest.first() == Some(word) {
            let skipped = equal_words(*word, rest);
            rest = rest.get(skipped..).unwrap_or_default();
            end += u32::try_from(skipped).unwrap_or_default() * word_cells;
        }
        let next = match rest.first() {
            Some(next) => u64::from_be_bytes(*next),
            None => !(cells << (64 - BITS)),
        };
        let mut differs = cells ^ (cells << BITS | next >> (64 - BITS));
        while differs != 0 {
            let cell = differs.leading_zeros() / BITS;
            let cells_after = word_cells - 1 - cell;
            let (shift, mask) = (cells_after * BITS, const { u64::MAX >> (64 - BITS) });
            differs &= !(mask << shift);
            let run_end = end.wrapping_sub(cells_after);
            visitor.visit((cells >> shift & mask & 0xffff) as u16, run_end.wrapping_sub(start));
            start = run_end;
        }
    }
    visitor
}

/// Returns how many words at the beginning are equal to `word`.
#[inline]
fn equal_words(word: [u8; 8], words: &[[u8; 8]]) -> usize {
    let equal = [word; SKIPPED_WORDS];
    // As bytes, so that a step is compared by vector instructions.
    let is_equal = |step: &&[[u8; 8]; SKIPPED_WORDS]| step.as_flattened() == equal.as_flattened();
    let steps = words.as_chunks::<SKIPPED_WORDS>().0.iter();
    let skipped = steps.take_while(is_equal).count() * SKIPPED_WORDS;
    let rest = words.get(skipped..).unwrap_or_default();
    skipped + rest.iter().take_while(|next| **next == word).count()
}

/// Finds the ends of runs by comparing a 64-bit word with itself shifted by one cell.
#[derive(Clone)]
pub(super) struct CellRuns<'a> {
    /// The words after the current one. The first cell of a word is in its highest bits.
    rest: &'a [[u8; 8]],
    bits: u32,
    /// `bits` is two to this power: shifting is faster than dividing.
    bits_log2: u32,
    word: u64,
    /// Has bits set in each cell of the word that differs from the next cell.
    differs: u64,
    /// The index after the last cell of the current word.
    end: u32,
    /// The single run of an empty palette, which stores no cells.
    uniform: Option<(u16, u32)>,
}

impl<'a> CellRuns<'a> {
    fn new(bytes: &'a [u8], bits: u32, uniform: Option<(u16, u32)>) -> Self {
        let (rest, bits_log2) = (bytes.as_chunks().0, bits.ilog2());
        Self { rest, bits, bits_log2, word: 0, differs: 0, end: 0, uniform }
    }
}

impl Iterator for CellRuns<'_> {
    type Item = (u16, u32);

    #[inline]
    fn next(&mut self) -> Option<(u16, u32)> {
        let (bits, word_cells) = (self.bits, 64 >> self.bits_log2);
        while self.differs == 0 {
            let Some((word, rest)) = self.rest.split_first() else {
                return self.uniform.take();
            };
            self.word = u64::from_be_bytes(*word);
            self.rest = rest;
            self.end += word_cells;
            if self.word.rotate_left(bits) == self.word && rest.first() == Some(word) {
                let skipped = equal_words(*word, rest);
                self.rest = rest.get(skipped..).unwrap_or_default();
                self.end += u32::try_from(skipped).unwrap_or_default() * word_cells;
            }
            let next = match self.rest.first() {
                Some(next) => u64::from_be_bytes(*next),
                // The last cell of the section ends a run, so its next cell must differ.
                None => !(self.word << (64 - bits)),
            };
            self.differs = self.word ^ (self.word << bits | next >> (64 - bits));
        }
        let cell = self.differs.leading_zeros() >> self.bits_log2;
        let cells_after = word_cells - cell - 1;
        let (shift, mask) = (cells_after << self.bits_log2, (1 << bits) - 1);
        self.differs &= !(mask << shift);
        Some(((self.word >> shift & mask & 0xffff) as u16, self.end - cells_after))
    }
}

#[cfg(test)]
mod tests {
    use super::super::PaletteType;
    use super::super::cells::CELLS;
    use super::*;

    /// Returns ids with runs of every length up to 96, starting at odd and even cells.
    fn sample(kind: PaletteType) -> Vec<u16> {
        let most = [1, 16, 256, 700][usize::from(kind.code())];
        let runs = (0_u16..).flat_map(|step| vec![step * 7 % most; usize::from(step * 13 % 97)]);
        runs.take(CELLS).collect()
    }

    fn one_by_one(ids: &[u16]) -> Vec<(u16, u32)> {
        let mut runs: Vec<(u16, u32)> = Vec::new();
        for (&id, end) in ids.iter().zip(1..) {
            match runs.last_mut() {
                Some((last, last_end)) if *last == id => *last_end = end,
                _ => runs.push((id, end)),
            }
        }
        runs
    }

    #[test]
    fn runs_end_where_the_id_changes() {
        for kind in [PaletteType::HalfByte, PaletteType::Byte, PaletteType::Short] {
            let uniform = vec![3; CELLS];
            let alternating: Vec<u16> = [0, 1].repeat(CELLS / 2);
            let mut last = uniform.clone();
            last[CELLS - 1] = 0;
            for ids in [sample(kind), uniform, alternating, last] {
                let cells = Cells::pack(kind, &ids);
                let mut visited = cells.visit_runs(Vec::new());
                let mut end = 0;
                for (_, len) in &mut visited {
                    end += *len;
                    *len = end;
                }
                assert!(cells.runs().collect::<Vec<_>>() == one_by_one(&ids), "{kind:?}");
                assert!(visited == one_by_one(&ids), "{kind:?}");
            }
        }
        assert_eq!(Cells::Empty.runs().collect::<Vec<_>>(), [(0, 32_768)]);
    }
}
