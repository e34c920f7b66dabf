//! Runs of consecutive cells with the same id, found several cells at a time.

use hyworld_coords::BLOCKS_PER_SECTION;

use super::cells::Cells;

impl Cells {
    /// Calls `visit` for the runs that [`runs`](Self::runs) returns. Twice as fast for sections
    /// with many runs.
    pub(super) fn for_each_run(&self, mut visit: impl FnMut(u16, u32)) {
        let words = self.as_bytes().as_chunks().0;
        match self {
            Self::Empty => visit(0, BLOCKS_PER_SECTION.into()),
            Self::HalfByte(_) => visit_words::<4>(words, visit),
            Self::Byte(_) => visit_words::<8>(words, visit),
            Self::Short(_) => visit_words::<16>(words, visit),
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

/// The number of words that are compared at once with a uniform one.
const SKIPPED_WORDS: usize = 8;

/// Visits the runs of cells of `BITS` bits, in the same way as [`CellRuns`].
#[inline]
fn visit_words<const BITS: u32>(mut rest: &[[u8; 8]], mut visit: impl FnMut(u16, u32)) {
    let word_cells = const { 64 / BITS };
    let mut end = 0;
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
            visit((cells >> shift & mask & 0xffff) as u16, end - cells_after);
        }
    }
}

/// Returns how many words at the beginning are equal to `word`, in steps of [`SKIPPED_WORDS`].
#[inline]
fn equal_words(word: [u8; 8], words: &[[u8; 8]]) -> usize {
    let word = u64::from_le_bytes(word);
    // Without an early exit, so that the words are compared by vector instructions.
    let differ = |bits: u64, next: &[u8; 8]| bits | (u64::from_le_bytes(*next) ^ word);
    let steps = words.as_chunks::<SKIPPED_WORDS>().0.iter();
    steps.take_while(|step| step.iter().fold(0, differ) == 0).count() * SKIPPED_WORDS
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
                let mut visited = Vec::new();
                cells.for_each_run(|id, end| visited.push((id, end)));
                assert!(cells.runs().collect::<Vec<_>>() == one_by_one(&ids), "{kind:?}");
                assert!(visited == one_by_one(&ids), "{kind:?}");
            }
        }
        assert_eq!(Cells::Empty.runs().collect::<Vec<_>>(), [(0, 32_768)]);
    }
}
