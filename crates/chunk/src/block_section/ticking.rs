//! [`TickingBlocks`]: the cells of a section whose blocks tick.

use hyworld_coords::{BLOCKS_PER_SECTION, LocalBlock};

use crate::wire::Reader;
use hyworld_documents::{Malformed, Problem};

/// The number of words for all cells of a section.
const WORDS_MAX: u16 = BLOCKS_PER_SECTION / 64;

/// The set of cells whose blocks the game ticks.
///
/// ```text
///  0  2    number of cells in the set; the game recounts when it loads
///  2  2    n, the number of words
///  4  8*n  words; bit b of word w, from the lowest, is the cell with index 64 * w + b
/// ```
///
/// The game omits zero words at the end. Any other form is kept until the set changes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TickingBlocks {
    listed_count: u16,
    words: Vec<u64>,
}

impl TickingBlocks {
    /// Returns whether a cell is in the set.
    pub fn contains(&self, cell: LocalBlock) -> bool {
        let (index, bit) = word_and_bit(cell);
        self.words.get(index).is_some_and(|word| word & bit != 0)
    }

    /// Counts the cells in the set.
    pub fn count(&self) -> u16 {
        let count: u32 = self.words.iter().map(|word| word.count_ones()).sum();
        u16::try_from(count).unwrap_or(BLOCKS_PER_SECTION)
    }

    /// Returns the stored number of cells, which can differ from [`count`](Self::count).
    pub fn listed_count(&self) -> u16 {
        self.listed_count
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Returns the cells of the set in index order.
    pub fn iter(&self) -> impl Iterator<Item = LocalBlock> {
        (0_u16..).zip(&self.words).flat_map(|(index, &word)| {
            let lowest_removed = |word: &u64| Some(word & word.wrapping_sub(1));
            let words = std::iter::successors(Some(word), lowest_removed).take_while(|&w| w != 0);
            words.filter_map(move |word| {
                let bit = u16::try_from(word.trailing_zeros()).ok()?;
                LocalBlock::from_index(index * 64 + bit)
            })
        })
    }

    /// Returns all cells of the section as runs: 1 for cells in the set, 0 for others, each with
    /// the number of such cells in a row.
    pub(crate) fn runs(&self) -> Vec<(u16, u32)> {
        let mut runs: Vec<(u16, u32)> = Vec::new();
        let mut add = |value, len| match runs.last_mut() {
            Some((last, sum)) if *last == value => *sum += len,
            _ if len > 0 => runs.push((value, len)),
            _ => {}
        };
        for &word in &self.words {
            let (mut rest, mut left) = (word, u64::BITS);
            while left > 0 {
                let ones = rest.trailing_ones();
                add(1, ones);
                rest = rest.checked_shr(ones).unwrap_or(0);
                left -= ones;
                // The bits above the last cell are 0 too.
                let zeros = rest.trailing_zeros().min(left);
                add(0, zeros);
                rest = rest.checked_shr(zeros).unwrap_or(0);
                left -= zeros;
            }
        }
        let words = u32::try_from(self.words.len()).unwrap_or(WORDS_MAX.into());
        add(0, u32::from(BLOCKS_PER_SECTION).saturating_sub(words.saturating_mul(u64::BITS)));
        runs
    }

    /// Adds or removes a cell. Returns whether the set changed.
    pub(super) fn set(&mut self, cell: LocalBlock, ticks: bool) -> bool {
        if self.contains(cell) == ticks {
            return false;
        }
        let (index, bit) = word_and_bit(cell);
        if self.words.len() <= index {
            self.words.resize(index + 1, 0);
        }
        if let Some(word) = self.words.get_mut(index) {
            *word ^= bit;
        }
        let used = self.words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        self.words.truncate(used);
        self.listed_count = self.count();
        true
    }

    /// Drops zero words at the end and corrects the stored number of cells.
    pub(crate) fn recount(&mut self) {
        self.words.truncate(self.words.len().saturating_sub(self.idle_words()));
        self.listed_count = self.count();
    }

    /// Returns the number of zero words at the end.
    pub(super) fn idle_words(&self) -> usize {
        self.words.iter().rev().take_while(|&&word| word == 0).count()
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let listed_count = reader.u16()?;
        let at = reader.at();
        let words = reader.u16()?;
        if words > WORDS_MAX {
            let (what, expected) = ("the number of ticking words", "at most 512");
            let found = words.into();
            return Err(Malformed { at, problem: Problem::Value { what, found, expected } });
        }
        let bytes = reader.bytes(8 * usize::from(words))?;
        let words = bytes.as_chunks().0.iter().map(|&word| u64::from_be_bytes(word)).collect();
        Ok(Self { listed_count, words })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.listed_count.to_be_bytes());
        out.extend(u16::try_from(self.words.len()).unwrap_or(WORDS_MAX).to_be_bytes());
        out.extend(self.words.iter().flat_map(|word| word.to_be_bytes()));
    }
}

/// Returns the index of the word with a cell, and the cell's bit in it.
fn word_and_bit(cell: LocalBlock) -> (usize, u64) {
    (usize::from(cell.index() / 64), 1 << (cell.index() % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> Result<TickingBlocks, Malformed> {
        let mut reader = Reader::new(bytes);
        let ticking = TickingBlocks::decode(&mut reader)?;
        reader.finish()?;
        Ok(ticking)
    }

    fn encode(ticking: &TickingBlocks) -> Vec<u8> {
        let mut out = Vec::new();
        ticking.encode(&mut out);
        out
    }

    fn cell(index: u16) -> LocalBlock {
        LocalBlock::from_index(index).unwrap()
    }

    #[test]
    fn runs_cover_all_cells() {
        let ticking = |words: &[u64]| TickingBlocks { listed_count: 0, words: words.to_vec() };
        assert_eq!(ticking(&[]).runs(), [(0, 32_768)]);
        assert_eq!(ticking(&[0, 0]).runs(), [(0, 32_768)]);
        assert_eq!(ticking(&[u64::MAX; 512]).runs(), [(1, 32_768)]);
        assert_eq!(ticking(&[1 << 63, 1]).runs(), [(0, 63), (1, 2), (0, 32_703)]);
        assert_eq!(ticking(&[0b0110]).runs(), [(0, 1), (1, 2), (0, 32_765)]);
        let words: Vec<u64> =
            (0..512_u64).map(|n| (n * n).wrapping_mul(0x9e37_79b9_7f4a)).collect();
        let (many, mut cells) = (ticking(&words), Vec::new());
        for (value, len) in many.runs() {
            cells.extend((0..len).map(|_| value == 1));
        }
        assert_eq!(cells.len(), 32_768);
        assert!((0..).zip(cells).all(|(index, ticks)| many.contains(cell(index)) == ticks));
    }

    #[test]
    fn golden_bytes() {
        let mut ticking = TickingBlocks::default();
        assert_eq!(encode(&ticking), [0, 0, 0, 0]);
        assert!(ticking.set(cell(0), true) && ticking.set(cell(71), true));
        assert!(!ticking.set(cell(71), true));
        let golden = [0, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x80];
        assert_eq!(encode(&ticking), golden);
        assert_eq!(decode(&golden), Ok(ticking.clone()));
        assert_eq!(ticking.iter().map(LocalBlock::index).collect::<Vec<_>>(), [0, 71]);
        assert!(ticking.set(cell(71), false) && ticking.contains(cell(0)));
        assert_eq!(
            encode(&ticking),
            golden[..12]
                .iter()
                .enumerate()
                .map(|(i, &b)| { if i == 1 || i == 3 { 1 } else { b } })
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn every_cell_can_tick() {
        let mut ticking = TickingBlocks::default();
        for index in (0..32_768).rev() {
            ticking.set(cell(index), true);
        }
        assert_eq!((ticking.count(), ticking.listed_count()), (32_768, 32_768));
        assert!(ticking.iter().eq(LocalBlock::all()));
        assert_eq!(decode(&encode(&ticking)), Ok(ticking));
    }

    #[test]
    fn anomalies_are_kept_until_a_change() {
        let odd = [0xab, 0xcd, 0, 2, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0];
        let mut ticking = decode(&odd).unwrap();
        assert_eq!((ticking.count(), ticking.listed_count()), (2, 0xabcd));
        assert_eq!(ticking.idle_words(), 1);
        assert!(!ticking.set(cell(1), true) && !ticking.set(cell(3), false));
        assert_eq!(encode(&ticking), odd);
        ticking.set(cell(1), false);
        assert_eq!(encode(&ticking), [0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4]);
        ticking.set(cell(2), false);
        assert!(ticking.is_empty());
        assert_eq!(encode(&ticking), [0; 4]);
    }

    #[test]
    fn truncations_and_too_many_words_are_rejected() {
        let whole = [&[0, 1, 0, 3][..], &[1; 24]].concat();
        for len in 0..whole.len() {
            assert!(decode(&whole[..len]).is_err(), "{len} bytes");
        }
        assert!(decode(&[&[0, 0, 2, 0][..], &[0; 4096]].concat()).is_ok());
        let error = decode(&[&[0, 0, 2, 1][..], &[0; 4104]].concat()).unwrap_err();
        assert_eq!(error.at, 2);
    }
}
