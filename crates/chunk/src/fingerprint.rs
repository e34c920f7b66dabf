//! Digests of a chunk that do not depend on how it is stored.
//!
//! Palette order, palette types, ids, counts and compression do not affect them. A digest is the
//! first 8 bytes of a SHA-256 over all 327,680 cells of the chunk, from the bottom section up, in
//! index order; `docs/format/chunk.md` defines the exact bytes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use hyworld_coords::{LocalBlock, LocalColumn};
use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::block_section::BlockSection;
use crate::chunk::Chunk;
use crate::error::Result;
use crate::fluid::FluidSection;
use crate::light::Light;
use crate::palette::{AssetKey, Palette, PaletteKey};

/// The number of cells in a section.
const CELLS: usize = 32_768;
/// The number of sections in a chunk.
const SECTIONS: usize = 10;

/// The first 8 bytes of a SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 8]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        hex(&self.0, serializer)
    }
}

fn hex<S: Serializer>(bytes: &[u8], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(&Hex(bytes))
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Digests of the cells and columns of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct CellDigests {
    /// Block names.
    pub blocks: Digest,
    /// Fillers.
    pub filler: Digest,
    /// Rotations.
    pub rotation: Digest,
    /// Fluid names.
    pub fluids: Digest,
    /// Fluid levels.
    pub levels: Digest,
    /// Local light.
    pub light_local: Digest,
    /// Global light.
    pub light_global: Digest,
    /// Heights.
    pub height: Digest,
    /// Tints.
    pub tint: Digest,
}

/// Digests and counts of a chunk.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct Fingerprint {
    /// SHA-256 of the document. It differs whenever a byte does.
    #[serde(serialize_with = "hex")]
    pub sha256: [u8; 32],
    /// Length of the document in bytes.
    #[serde(rename = "raw")]
    pub raw_bytes: usize,
    /// Number of entities.
    pub entities: usize,
    /// Number of block entities.
    pub block_components: usize,
    /// Sum of all heights.
    pub height_sum: i64,
    /// Digests of cells and columns. They are equal for equal cells.
    pub cells: CellDigests,
}

impl Fingerprint {
    /// Computes the fingerprint of a chunk's document.
    ///
    /// # Errors
    /// Returns an error if a component is malformed or a newer game wrote it.
    pub fn of(document: Vec<u8>) -> Result<Self> {
        let sha256 = Sha256::digest(&document).into();
        let raw_bytes = document.len();
        let chunk = Chunk::decode(document)?;
        let cells = CellDigests::of(&chunk)?;
        let heights = chunk.columns()?.heights.values();
        Ok(Self {
            sha256,
            raw_bytes,
            entities: chunk.entities()?.count(),
            block_components: chunk.block_entity_count()?,
            height_sum: heights.values().map(|height| i64::from(*height)).sum(),
            cells,
        })
    }
}

impl CellDigests {
    /// Computes the digests of a chunk.
    ///
    /// # Errors
    /// Returns an error if a component is malformed or a newer game wrote it.
    pub fn of(chunk: &Chunk) -> Result<Self> {
        let mut blocks = Vec::with_capacity(SECTIONS);
        let mut fluids = Vec::with_capacity(SECTIONS);
        for section in chunk.sections() {
            blocks.push(section.blocks()?);
            fluids.push(section.fluids()?);
            section.physics()?;
        }
        chunk.environments()?;
        let columns = chunk.columns()?;
        let heights = LocalColumn::all().flat_map(|at| columns.heights.value(at).to_le_bytes());
        let tints = LocalColumn::all().flat_map(|at| columns.tints.value(at).to_le_bytes());
        let (blocks, fluids) = (blocks.as_slice(), fluids.as_slice());
        Ok(Self {
            blocks: names(blocks, BlockSection::blocks),
            filler: digest_u16(blocks, |section| values(section.fillers(), |filler| filler.bits())),
            rotation: digest_u8(blocks, |section| {
                values(section.rotations(), |rotation| rotation.index())
            }),
            fluids: names(fluids, FluidSection::fluids),
            levels: digest_u8(fluids, levels),
            light_local: digest_u16(blocks, |section| light(&section.local_light)),
            light_global: digest_u16(blocks, |section| light(&section.global_light)),
            height: finish(Sha256::new().chain_update(heights.collect::<Vec<_>>())),
            tint: finish(Sha256::new().chain_update(tints.collect::<Vec<_>>())),
        })
    }
}

fn finish(hash: Sha256) -> Digest {
    let digest: [u8; 32] = hash.finalize().into();
    Digest(digest.first_chunk().copied().unwrap_or_default())
}

/// Returns the value of every cell, or `None` if all have the default value, which is zero.
fn values<K: PaletteKey, N>(palette: &Palette<K>, number: impl Fn(&K) -> N) -> Option<Vec<N>>
where
    N: Copy + Default + PartialEq,
{
    let zero = N::default();
    if palette.uniform().is_some_and(|key| number(key) == zero) {
        return None;
    }
    let mut cells = Vec::with_capacity(CELLS);
    for run in palette.runs() {
        cells.resize(cells.len().saturating_add(run.len.into()), number(run.key));
    }
    Some(cells)
}

fn levels(fluid: &FluidSection) -> Option<Vec<u8>> {
    let has_levels = !fluid.is_empty();
    has_levels.then(|| LocalBlock::all().map(|cell| fluid.level(cell)).collect())
}

fn light(light: &Light) -> Option<Vec<u16>> {
    let tree = light.tree.as_ref()?;
    Some(tree.expand().values().map(|value| value.bits()).collect())
}

/// Returns the digest of ten sections of 16-bit numbers.
fn digest_u16<S>(sections: &[&S], cells: impl Fn(&S) -> Option<Vec<u16>>) -> Digest {
    static ZEROS: OnceLock<Digest> = OnceLock::new();
    bytes(sections, CELLS * 2, &ZEROS, |section| {
        let mut bytes = Vec::with_capacity(CELLS * 2);
        cells(section)?.into_iter().for_each(|cell| bytes.extend_from_slice(&cell.to_le_bytes()));
        Some(bytes)
    })
}

/// Returns the digest of ten sections of 8-bit numbers.
fn digest_u8<S>(sections: &[&S], cells: impl Fn(&S) -> Option<Vec<u8>>) -> Digest {
    static ZEROS: OnceLock<Digest> = OnceLock::new();
    bytes(sections, CELLS, &ZEROS, cells)
}

/// Returns the digest of ten sections. The digest of zeros, a common one, is cached.
fn bytes<S>(
    sections: &[&S],
    section_bytes: usize,
    zeros: &'static OnceLock<Digest>,
    cells: impl Fn(&S) -> Option<Vec<u8>>,
) -> Digest {
    let empty = vec![0; section_bytes];
    let found: Vec<Option<Vec<u8>>> = sections.iter().map(|section| cells(section)).collect();
    let hash = || {
        let parts = found.iter().map(|cells| cells.as_ref().unwrap_or(&empty));
        finish(parts.fold(Sha256::new(), Sha256::chain_update))
    };
    if found.len() == SECTIONS && found.iter().all(Option::is_none) {
        *zeros.get_or_init(hash)
    } else {
        hash()
    }
}

/// Returns the digest of names: the distinct ones in order, then for each cell the number of its
/// name.
fn names<S>(sections: &[&S], palette: impl Fn(&S) -> &Palette<AssetKey>) -> Digest {
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    for section in sections {
        let used = palette(section).exact_counts();
        numbers.extend(used.into_iter().map(|(key, _)| (key.as_str(), 0)));
    }
    let mut hash = Sha256::new();
    for ((name, number), index) in numbers.iter_mut().zip(0..) {
        *number = index;
        hash.update(name);
        hash.update("\n");
    }
    let number = |key: &AssetKey| numbers.get(key.as_str()).copied().unwrap_or(u32::MAX);
    // Known chunks have fewer names than 16 bits can number, but ten sections can hold more.
    let number_bytes = if numbers.len() > 1 << 16 { 4 } else { 2 };
    let mut cells = Vec::with_capacity(CELLS * number_bytes);
    for section in sections {
        cells.clear();
        for run in palette(section).runs() {
            let number = number(run.key).to_le_bytes();
            append_run(&mut cells, number.get(..number_bytes).unwrap_or(&number), run.len.into());
        }
        hash.update(&cells);
    }
    finish(hash)
}

/// Appends `one` `times` times. Appending one by one would be most of the cost of a digest.
fn append_run(cells: &mut Vec<u8>, one: &[u8], times: usize) {
    let start = cells.len();
    let end = start.saturating_add(one.len().saturating_mul(times));
    if times > 0 {
        cells.extend_from_slice(one);
    }
    while cells.len() < end {
        let whole = cells.len().min(start.saturating_add(end.saturating_sub(cells.len())));
        cells.extend_from_within(start..whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyworld_coords::{ChunkBlock, SectionArray, SectionY};

    fn cells(chunk: &Chunk) -> CellDigests {
        CellDigests::of(chunk).unwrap()
    }

    #[test]
    fn runs_repeat_the_same_bytes() {
        for times in [0, 1, 2, 3, 7, 8, 9, 32_768] {
            let mut cells = vec![9];
            append_run(&mut cells, &[1, 2], times);
            assert_eq!(cells.len(), 1 + 2 * times);
            assert!(cells[1..].chunks(2).all(|two| two == [1, 2]) && cells[0] == 9);
        }
    }

    #[test]
    fn digests_of_a_chunk_of_air() {
        let digests = cells(&Chunk::new());
        // From an independent implementation: 655,360, 327,680 and 4,096 zero bytes.
        assert_eq!(digests.filler.to_string(), "ff6335069b6e140e");
        assert_eq!(digests.light_global, digests.filler);
        assert_eq!(digests.levels, digests.rotation);
        assert_ne!(digests.levels, digests.filler);
        assert_eq!(digests.blocks, digests.fluids);
    }

    #[test]
    fn equal_cells_have_equal_digests() {
        let stone = AssetKey::new("Rock_Stone").unwrap();
        let wood = AssetKey::new("Wood").unwrap();
        let at = |index| ChunkBlock::from_index(index).unwrap();
        let edit = |steps: &[(u32, &AssetKey)]| {
            let mut chunk = Chunk::new();
            for (index, key) in steps {
                chunk.set_block(at(*index), *key).unwrap();
            }
            chunk
        };
        let one = edit(&[(70_000, &stone), (5, &wood)]);
        let other = edit(&[(5, &stone), (70_000, &wood), (70_000, &stone), (5, &wood)]);
        assert_ne!(one.encode(), other.encode(), "the counters differ");
        assert_eq!(cells(&one), cells(&other));
        assert_ne!(cells(&one).blocks, cells(&Chunk::new()).blocks);
        assert_ne!(cells(&one).height, cells(&Chunk::new()).height);
    }

    /// Three sections with as many names as a palette can list. The numbers overflowed a u16 once.
    #[test]
    fn more_names_than_a_u16_can_number() {
        let chunk = |shift: u32| {
            let mut chunk = Chunk::new();
            for (number, y) in (0_u32..3).zip(SectionY::all()) {
                let kind = |index| u32::from(u16::min(index, 32_766)) + number * 32_767;
                let name = |cell: LocalBlock| format!("{:06}", kind(cell.index()) / shift);
                let values = SectionArray::from_fn(|cell| AssetKey::new(&name(cell)).unwrap());
                let mut section = BlockSection::new(0);
                section.blocks = Palette::from_array(&values).unwrap();
                chunk.put_in(y, &section).unwrap();
            }
            Chunk::decode(chunk.encode()).unwrap()
        };
        let many = cells(&chunk(1));
        assert_eq!(many.blocks, cells(&chunk(1)).blocks);
        assert_ne!(many.blocks, cells(&chunk(2)).blocks);
        assert_eq!(many.fluids, cells(&Chunk::new()).fluids);
    }
}
