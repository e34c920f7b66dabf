//! Counts the cells of a palette many at a time.

const ONES: u64 = 0x1111_1111_1111_1111;
const LOW_BITS: u64 = 0x7777_7777_7777_7777;
const LOW_HALVES: u64 = 0x0F0F_0F0F_0F0F_0F0F;

/// Cells are compared in blocks of this size first, because most are parts of long runs.
const BLOCK_BYTES: usize = 64;

/// The cells of a row along x, eight bits each. Longer runs of such cells are rare.
const ROW_BYTES: usize = 32;

/// Counts the cells with each id, four bits each.
pub(super) fn count_halves(cells: &[u8; 16_384]) -> [u32; 16] {
    let mut counts = [0_u32; 16];
    let mut bytes = [[0_u32; 256]; 2];
    for block in cells.as_chunks::<BLOCK_BYTES>().0 {
        let words = block.as_chunks::<8>().0;
        let first = u64::from_le_bytes(words.first().copied().unwrap_or_default());
        if is_uniform(words, first) && first == (first & 15).wrapping_mul(ONES) {
            add(&mut counts, first & 15, 128);
            continue;
        }
        for word in words {
            let number = u64::from_le_bytes(*word);
            if number == (number & 15).wrapping_mul(ONES) {
                add(&mut counts, number & 15, 16);
            } else {
                count_each(*word, &mut bytes);
            }
        }
    }
    let [even, odd] = bytes;
    for ((byte, even), odd) in (0_u64..).zip(even).zip(odd) {
        let count = even.saturating_add(odd);
        if count > 0 {
            add(&mut counts, byte >> 4, count);
            add(&mut counts, byte & 15, count);
        }
    }
    counts
}

/// Counts the cells with each id, eight bits each.
pub(super) fn count_bytes(cells: &[u8; 32_768]) -> [u32; 256] {
    let mut counts = [0_u32; 256];
    // A table for each byte of a word: increments of the same counter by equal neighbours would
    // wait for each other. A table counts at most 4,096 words.
    let mut tables = [[0_u16; 256]; 8];
    for row in cells.as_chunks::<ROW_BYTES>().0 {
        let words = row.as_chunks::<8>().0;
        let first = u64::from_le_bytes(words.first().copied().unwrap_or_default());
        if is_uniform(words, first) && first == first.rotate_left(8) {
            add(&mut counts, first & 255, 32);
            continue;
        }
        for word in words {
            let number = u64::from_le_bytes(*word);
            if number == number.rotate_left(8) {
                add(&mut counts, number & 255, 8);
                continue;
            }
            for (table, byte) in tables.iter_mut().zip(word) {
                #[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
                let count = &mut table[usize::from(*byte)];
                *count = count.wrapping_add(1);
            }
        }
    }
    for table in tables {
        for (sum, count) in counts.iter_mut().zip(table) {
            *sum = sum.wrapping_add(count.into());
        }
    }
    counts
}

fn is_uniform(words: &[[u8; 8]], first: u64) -> bool {
    words.iter().fold(0, |bits, word| bits | (u64::from_le_bytes(*word) ^ first)) == 0
}

/// Counts each byte, in two tables in turn: increments of the same counter by equal neighbours
/// would wait for each other.
fn count_each(word: [u8; 8], tables: &mut [[u32; 256]; 2]) {
    let [even, odd] = tables;
    for [a, b] in word.as_chunks::<2>().0 {
        #[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
        {
            even[usize::from(*a)] = even[usize::from(*a)].wrapping_add(1);
            odd[usize::from(*b)] = odd[usize::from(*b)].wrapping_add(1);
        }
    }
}

fn add(counts: &mut [u32], id: u64, cells: u32) {
    let count = usize::try_from(id).ok().and_then(|id| counts.get_mut(id));
    if let Some(count) = count {
        *count = count.wrapping_add(cells);
    }
}

/// Swaps the two halves of each byte.
pub(super) fn swap_halves(word: u64) -> u64 {
    (word & LOW_HALVES) << 4 | word >> 4 & LOW_HALVES
}

/// Returns whether the same half bytes are 0 in both.
pub(super) fn same_zeros(
    left: impl Iterator<Item = u64>,
    right: impl Iterator<Item = u64>,
) -> bool {
    left.zip(right).fold(0, |bits, (left, right)| bits | (zeros(left) ^ zeros(right))) == 0
}

/// Sets the highest bit of each half byte that is 0.
fn zeros(word: u64) -> u64 {
    !((word & LOW_BITS).wrapping_add(LOW_BITS) | word) & !LOW_BITS
}

#[cfg(test)]
mod tests {
    use hyworld_testkit::Random;

    use super::*;

    /// Runs of one id, and stretches of random ones.
    fn sample<const N: usize>(seed: u64, ids: u32, repeat: u8) -> [u8; N] {
        let mut random = Random::new(seed);
        let mut bytes = Vec::new();
        while bytes.len() < N {
            let byte = u8::try_from(random.below(ids)).unwrap() * repeat;
            match random.below(3) {
                0 => bytes.extend(vec![byte; random.below(400) as usize]),
                1 => bytes.extend(vec![byte; 7]),
                _ => bytes.push(u8::try_from(random.below(256)).unwrap()),
            }
        }
        bytes.truncate(N);
        bytes.try_into().unwrap()
    }

    #[test]
    fn counts_agree_with_counting_one_by_one() {
        for seed in 0..20 {
            let cells = sample::<16_384>(seed, 16, 0x11);
            let mut expected = [0; 16];
            for half in cells.iter().flat_map(|byte| [byte >> 4, byte & 15]) {
                expected[usize::from(half)] += 1;
            }
            assert_eq!(count_halves(&cells), expected);
            let cells = sample::<32_768>(seed, 256, 1);
            let mut expected = [0; 256];
            for byte in &cells {
                expected[usize::from(*byte)] += 1;
            }
            assert_eq!(count_bytes(&cells), expected);
        }
    }

    #[test]
    fn zeros_are_found_in_every_half() {
        let mut random = Random::new(1);
        for _ in 0..1000 {
            let word = random.number() & random.number() & random.number();
            for half in 0..16 {
                let is_zero = word >> (4 * half) << 60 == 0;
                assert_eq!(zeros(word) >> (4 * half + 3) & 1 == 1, is_zero, "{word:x} {half}");
            }
            assert_eq!(zeros(word) & LOW_BITS, 0);
        }
        assert_eq!(swap_halves(0x0123_4567_89ab_cdef), 0x1032_5476_98ba_dcfe);
        assert!(same_zeros([0xF0_u64].into_iter(), [0x10].into_iter()));
        assert!(!same_zeros([0xF0_u64].into_iter(), [0x01].into_iter()));
    }
}
