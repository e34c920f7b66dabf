//! Ten-bit numbers, one for each column of a chunk.
//!
//! Number `k` is in bits `10k` to `10k + 9` of a stream whose bit `j` is bit `j % 8` of byte
//! `j / 8`. Five bytes hold four numbers, and 1,024 numbers fill 1,280 bytes exactly.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use std::fmt;

use hyworld_coords::{COLUMNS_PER_CHUNK, LocalColumn};

/// The number of columns.
pub(crate) const COUNT: usize = COLUMNS_PER_CHUNK as usize;

/// The size of the packed numbers.
pub(crate) const PACKED_BYTES: usize = 1280;

/// The greatest ten-bit number.
const MASK: u16 = 1023;

/// The numbers in their stored form, so that encoding is a copy and reading one touches two bytes.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct TenBitArray(Box<[u8; PACKED_BYTES]>);

impl TenBitArray {
    pub(crate) fn zeros() -> Self {
        Self(Box::new([0; PACKED_BYTES]))
    }

    /// Creates an array from its stored form. Returns `None` if the length is wrong.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self(Box::new(*bytes.as_array()?)))
    }

    pub(crate) fn as_bytes(&self) -> &[u8; PACKED_BYTES] {
        &self.0
    }

    pub(crate) fn get(&self, column: LocalColumn) -> u16 {
        let (byte, shift) = bit_offset(column);
        let pair = self.0.get(byte..).and_then(<[u8]>::first_chunk);
        pair.map_or(0, |&pair| u16::from_le_bytes(pair) >> shift & MASK)
    }

    /// Sets a number. Only its low ten bits are kept.
    pub(crate) fn set(&mut self, column: LocalColumn, number: u16) {
        let (byte, shift) = bit_offset(column);
        if let Some(pair) = self.0.get_mut(byte..).and_then(<[u8]>::first_chunk_mut) {
            let others = u16::from_le_bytes(*pair) & !(MASK << shift);
            *pair = (others | (number & MASK) << shift).to_le_bytes();
        }
    }

    /// Returns the bitwise OR of all numbers, a cheap upper bound of the greatest one.
    pub(crate) fn bits_used(&self) -> u16 {
        /// The period after which numbers and 64-bit words start at the same bit again.
        const PERIOD_BYTES: usize = 40;
        let mut bits = [0; PERIOD_BYTES / 8];
        for period in self.0.as_chunks::<PERIOD_BYTES>().0 {
            let words = period.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
            bits.iter_mut().zip(words).for_each(|(bits, word)| *bits |= word);
        }
        let bytes = bits.map(u64::to_le_bytes);
        let fives = bytes.as_flattened().as_chunks().0.iter();
        let word = fives.fold(0, |bits, five| bits | word(*five));
        let [a, b, c, d] = numbers_in(word);
        a | b | c | d
    }

    /// Returns all numbers in column order.
    pub(crate) fn unpack(&self) -> [u16; COUNT] {
        let mut numbers = [0; COUNT];
        let (unpacked, _) = numbers.as_chunks_mut();
        for (four, numbers) in unpacked.iter_mut().zip(groups_of_four(&self.0)) {
            *four = numbers;
        }
        numbers
    }

    /// Packs numbers. Only the low ten bits of each are kept.
    pub(crate) fn pack(numbers: &[u16; COUNT]) -> Self {
        let mut bytes = Self::zeros();
        let (unpacked, _) = numbers.as_chunks();
        let (packed, _) = bytes.0.as_chunks_mut::<5>();
        for (four, five) in unpacked.iter().zip(packed) {
            let [first, second, third, fourth] = four.map(|number| u64::from(number & MASK));
            let word = first | second << 10 | third << 20 | fourth << 30;
            if let Some(bytes) = word.to_le_bytes().first_chunk() {
                *five = *bytes;
            }
        }
        bytes
    }
}

/// Returns the numbers of an array in its stored form, four at a time.
pub(crate) fn groups_of_four(packed: &[u8; PACKED_BYTES]) -> impl Iterator<Item = [u16; 4]> {
    packed.as_chunks::<5>().0.iter().map(|five| numbers_in(word(*five)))
}

/// Prints the numbers instead of the bytes.
impl fmt::Debug for TenBitArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.unpack()).finish()
    }
}

/// Returns the index of the first of the two bytes that hold the number of a column, and the bit at
/// which the number starts: 0, 2, 4 or 6, so it never reaches a third byte.
fn bit_offset(column: LocalColumn) -> (usize, u16) {
    let bit = column.index().saturating_mul(10);
    (usize::from(bit / 8), bit % 8)
}

/// Returns five bytes, which hold four numbers, as one integer.
fn word(five: [u8; 5]) -> u64 {
    let [low @ .., high] = five;
    u64::from(u32::from_le_bytes(low)) | u64::from(high) << 32
}

fn numbers_in(word: u64) -> [u16; 4] {
    [word, word >> 10, word >> 20, word >> 30].map(low_ten_bits)
}

fn low_ten_bits(word: u64) -> u16 {
    (word & 1023) as u16
}

#[cfg(test)]
mod tests {
    use hyworld_testkit::Random;

    use super::*;

    /// Reads a number one bit at a time, as the format states it.
    fn bit_by_bit(bytes: &[u8], k: usize) -> u16 {
        (0..10)
            .map(|i| {
                let j = 10 * k + i;
                u16::from(bytes[j / 8] >> (j % 8) & 1) << i
            })
            .sum()
    }

    fn column(k: usize) -> LocalColumn {
        LocalColumn::from_index(u16::try_from(k).unwrap()).unwrap()
    }

    #[test]
    fn golden_bytes() {
        let mut numbers = [0; COUNT];
        numbers[..5].copy_from_slice(&[1, 2, 3, 1023, 512]);
        let packed = TenBitArray::pack(&numbers);
        assert_eq!(packed.as_bytes()[..8], [0x01, 0x08, 0x30, 0xC0, 0xFF, 0x00, 0x02, 0x00]);
        assert_eq!(packed.unpack(), numbers);
    }

    #[test]
    fn numbers_match_a_bitwise_reader() {
        let bytes = Random::new(7).bytes(PACKED_BYTES);
        let packed = TenBitArray::from_bytes(&bytes).unwrap();
        let numbers = packed.unpack();
        for (k, &number) in numbers.iter().enumerate() {
            assert_eq!(number, bit_by_bit(&bytes, k), "number {k}");
            assert_eq!(packed.get(column(k)), number, "number {k}");
        }
        assert_eq!(TenBitArray::pack(&numbers).as_bytes()[..], bytes);
    }

    #[test]
    fn setting_a_number_keeps_the_others() {
        let mut random = Random::new(8);
        let mut packed = TenBitArray::from_bytes(&random.bytes(PACKED_BYTES)).unwrap();
        let mut numbers = packed.unpack();
        for _ in 0..5000 {
            let k = random.below(1024) as usize;
            let number = u16::try_from(random.below(1024)).unwrap();
            packed.set(column(k), number);
            numbers[k] = number;
            assert_eq!(packed.get(column(k)), number);
        }
        assert_eq!(packed.unpack(), numbers);
        assert_eq!(packed, TenBitArray::pack(&numbers));
    }

    #[test]
    fn too_large_numbers_do_not_overflow() {
        let mut packed = TenBitArray::zeros();
        packed.set(column(1), u16::MAX);
        assert_eq!(packed.unpack()[..3], [0, 1023, 0]);
        let mut numbers = [0; COUNT];
        numbers[1] = u16::MAX;
        assert_eq!(TenBitArray::pack(&numbers), packed);
    }

    #[test]
    fn other_lengths_are_rejected() {
        for len in [0, 1, 1279, 1281] {
            assert_eq!(TenBitArray::from_bytes(&vec![0; len]), None, "{len} bytes");
        }
    }
}
