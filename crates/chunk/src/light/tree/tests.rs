use hyworld_testkit::Random;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

fn decode(tree: &[u8]) -> Result<LightTree, Malformed> {
    let mut bytes = u32::try_from(tree.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend(tree);
    let mut reader = Reader::new(&bytes);
    let tree = LightTree::decode(1, &mut reader)?;
    reader.finish()?;
    Ok(tree)
}

fn light(bits: u16) -> LightValue {
    LightValue::from_bits(bits)
}

fn cell(index: u16) -> LocalBlock {
    LocalBlock::from_index(index).unwrap()
}

/// A tree that is stored without the code under test.
enum Part {
    Leaf(u16),
    Node([Box<Part>; 8]),
}

fn store(part: &Part, out: &mut Vec<u8>) {
    match part {
        Part::Leaf(value) => out.extend(value.to_be_bytes()),
        Part::Node(parts) => {
            let is_node = parts.iter().map(|part| u8::from(matches!(**part, Part::Node(_))));
            out.push(is_node.enumerate().map(|(index, bit)| bit << index).sum());
            for part in parts {
                store(part, out);
            }
        }
    }
}

fn spread(part: &Part, len: usize, out: &mut Vec<LightValue>) {
    match part {
        Part::Leaf(value) => out.extend(vec![light(*value); len]),
        Part::Node(parts) => {
            for part in parts {
                spread(part, len / 8, out);
            }
        }
    }
}

/// Creates a random tree, which may contain nodes with eight equal values.
fn any_part(random: &mut Random, level: u32, nodes_of_16: u32, values: u32) -> Part {
    if level == 0 || (level < 5 && random.below(16) < nodes_of_16) {
        let next = level + 1;
        return Part::Node(std::array::from_fn(|_| {
            Box::new(any_part(random, next, nodes_of_16, values))
        }));
    }
    Part::Leaf(u16::try_from(random.below(values)).unwrap())
}

fn check_tree(root: &Part) {
    let (mut bytes, mut expected) = (Vec::new(), Vec::new());
    store(root, &mut bytes);
    spread(root, 32_768, &mut expected);
    let tree = decode(&bytes).unwrap();
    assert_eq!(tree.as_bytes(), bytes);
    assert_eq!(bytes_of(tree.nodes()), bytes.len());
    let values = tree.expand();
    assert!(values.values().eq(&expected));
    for index in (0..32_768).step_by(37).chain([32_767]) {
        assert_eq!(tree.get(cell(index)), expected[usize::from(index)], "cell {index}");
    }
    let first = expected[0];
    assert_eq!(tree.is_uniform(), expected.iter().all(|&value| value == first));
    let rebuilt = LightTree::from_values(&values);
    assert!(rebuilt.as_bytes().len() <= bytes.len());
    assert!(decode(rebuilt.as_bytes()).unwrap().expand() == values);
    assert_eq!(LightTree::from_values(&rebuilt.expand()), rebuilt);
}

#[test]
fn a_node_splits_the_range_of_indices() {
    // The third part of the root is a node, whose last part is a node, and so on down to one cell.
    let mut bytes = Vec::new();
    for (mask, before) in [(0b100, 2), (0b1000_0000, 7), (1, 0), (0b10, 1), (0, 0)] {
        bytes.push(mask);
        bytes.extend([0x01, 0x01].repeat(before));
    }
    bytes.extend([0x02, 0x02].repeat(7));
    bytes.extend([0x02, 0x04]);
    for after in [6, 7, 0, 5] {
        bytes.extend([0x03, 0x03].repeat(after));
    }
    let tree = decode(&bytes).unwrap();
    assert_eq!(tree.nodes(), 5);
    // Bits 14 to 12, 11 to 9, 8 to 6, 5 to 3 of the index select the parts.
    let start = 2 << 12 | 7 << 9 | 1 << 3;
    let values = tree.expand();
    for index in 0..32_768 {
        let expected = match index {
            _ if index < start => 0x0101,
            _ if index < start + 7 => 0x0202,
            _ if index == start + 7 => 0x0204,
            _ => 0x0303,
        };
        assert_eq!(values[cell(index)], light(expected), "cell {index}");
        assert_eq!(tree.get(cell(index)), light(expected), "cell {index}");
    }
    assert_eq!(LightTree::from_values(&values), tree);
}

#[test]
fn a_uniform_tree_is_one_node() {
    let tree = LightTree::filled(light(0x1234));
    assert_eq!(tree.as_bytes(), [&[0][..], &[0x12, 0x34].repeat(8)].concat());
    assert_eq!((tree.uniform(), tree.nodes()), (Some(light(0x1234)), 1));
    assert_eq!(LightTree::from_values(&SectionArray::filled(light(0x1234))), tree);
    assert_eq!(format!("{tree:?}"), "LightTree(1 nodes)");
}

#[test]
fn the_largest_tree_has_every_node() {
    let values = SectionArray::from_fn(|cell| light(cell.index()));
    let tree = LightTree::from_values(&values);
    assert_eq!(tree.nodes(), NODES_MAX);
    assert_eq!(decode(tree.as_bytes()), Ok(tree.clone()));
    assert!(tree.expand() == values);
    assert_eq!(tree.get(cell(32_767)), light(32_767));
}

#[test]
fn nodes_that_could_be_values_are_kept() {
    let even = Part::Node(std::array::from_fn(|_| Box::new(Part::Leaf(7))));
    let mut parts = std::array::from_fn(|_| Box::new(Part::Leaf(7)));
    *parts[5] = even;
    let root = Part::Node(parts);
    check_tree(&root);
    let mut bytes = Vec::new();
    store(&root, &mut bytes);
    let tree = decode(&bytes).unwrap();
    assert_eq!((tree.nodes(), tree.uniform()), (2, Some(light(7))));
}

#[test]
fn a_sixth_level_is_rejected() {
    for part in 0..8 {
        let mut bytes = Vec::new();
        for _ in 0..5 {
            bytes.push(1 << part);
            bytes.extend(vec![0; 2 * part]);
        }
        bytes.push(0);
        bytes.extend([0; 16]);
        for _ in 0..5 {
            bytes.extend(vec![0; 2 * (7 - part)]);
        }
        assert_eq!(bytes.len(), bytes_of(6));
        let problem = decode(&bytes).unwrap_err().problem;
        assert!(matches!(problem, Problem::Value { found, .. } if found == 1 << part), "{problem}");
    }
}

#[test]
fn invalid_lengths_are_rejected() {
    for len in [i32::MIN, -1, 0, 1, 2, 16, 18, 31, 70_218, 70_232, i32::MAX] {
        let mut reader = [len.to_be_bytes().to_vec(), vec![0; 80_000]].concat();
        reader.truncate(80_000);
        let error = LightTree::decode(1, &mut Reader::new(&reader)).unwrap_err();
        assert_eq!(error.at, 0);
        assert!(matches!(error.problem, Problem::Value { found, .. } if found == i64::from(len)));
    }
}

#[test]
fn a_tree_must_fill_its_length() {
    let one = LightTree::filled(light(1));
    let long = [one.as_bytes(), &[0; 15]].concat();
    let trailing = Malformed { at: 4 + 17, problem: Problem::Trailing { bytes: 15 } };
    assert_eq!(decode(&long), Err(trailing));
    let mut short = one.as_bytes().to_vec();
    short[0] = 1;
    let error = decode(&short).unwrap_err();
    assert_eq!((error.at, matches!(error.problem, Problem::Truncated { .. })), (4, true));
}

#[test]
fn any_changed_byte_is_an_error_or_kept() {
    let mut random = Random::new(5);
    let root = any_part(&mut random, 0, 9, 3);
    let mut bytes = Vec::new();
    store(&root, &mut bytes);
    for at in (0..500).chain((500..bytes.len()).step_by(bytes.len() / 500)) {
        for flip in [1, 0x10, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            if let Ok(tree) = decode(&changed) {
                assert_eq!(tree.as_bytes(), changed);
                assert_eq!(tree.nodes(), changed.len() / 15);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(2026),
        ..ProptestConfig::with_cases(64)
    })]

    #[test]
    fn trees_of_every_shape(seed in any::<u64>(), nodes in 0_u32..16, values in 1_u32..5) {
        check_tree(&any_part(&mut Random::new(seed), 0, nodes, values));
    }

    #[test]
    fn no_bytes_panic(seed in any::<u64>(), nodes in 1_usize..40, sparse in 1_u32..20) {
        let mut random = Random::new(seed);
        let mut bytes = random.bytes(bytes_of(nodes));
        for byte in &mut bytes {
            *byte &= if random.below(sparse) == 0 { 0x81 } else { 0 };
        }
        if let Ok(tree) = decode(&bytes) {
            prop_assert_eq!(tree.as_bytes(), &*bytes);
            let values = tree.expand();
            prop_assert_eq!(values[cell(32_767)], tree.get(cell(32_767)));
        }
    }
}
