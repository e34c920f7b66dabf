//! Runs of consecutive cells with the same id, found several cells at a time.

use hyworld_coords::BLOCKS_PER_SECTION;

use super::cells::Cells;

impl Cells {
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
            let next = match rest.first() {
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
                let runs: Vec<_> = Cells::pack(kind, &ids).runs().collect();
                assert!(runs == one_by_one(&ids), "{kind:?}");
            }
        }
        assert_eq!(Cells::Empty.runs().collect::<Vec<_>>(), [(0, 32_768)]);
    }
}
