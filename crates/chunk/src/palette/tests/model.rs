//! Random changes, checked against a plain array and a second implementation of the id rules.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

#[derive(Clone, Debug)]
enum Operation {
    Set {
        cell: u16,
        value: u16,
    },
    /// Distinct values in `count` cells from `cell` on.
    Spread {
        cell: u16,
        count: u16,
        first: u16,
    },
    /// The same value in `count` cells from `cell` on.
    Collapse {
        cell: u16,
        count: u16,
        value: u16,
    },
    Box {
        corner: u16,
        opposite: u16,
        value: u16,
    },
    Merge {
        modulus: u16,
    },
    Reload,
    Rebuild,
}

fn operation(values: u16) -> impl Strategy<Value = Operation> {
    // Few cells, so that values are removed as often as they are added.
    let cell = || 0_u16..600;
    let value = move || prop_oneof![3 => 0..values, 1 => Just(0)];
    prop_oneof![
        8 => (cell(), value()).prop_map(|(cell, value)| Operation::Set { cell, value }),
        3 => (cell(), 0..values, 0..values)
            .prop_map(|(cell, count, first)| Operation::Spread { cell, count, first }),
        3 => (cell(), 0_u16..900, value())
            .prop_map(|(cell, count, value)| Operation::Collapse { cell, count, value }),
        1 => (0_u16..32_768, 0_u16..32_768, value()).prop_map(|(corner, opposite, value)| {
            Operation::Box { corner, opposite, value }
        }),
        1 => (1_u16..40).prop_map(|modulus| Operation::Merge { modulus }),
        1 => Just(Operation::Reload),
        1 => Just(Operation::Rebuild),
    ]
}

/// The rules for single cells as the format states them: entries by id, with value and count.
struct Rules {
    space: usize,
    entries: BTreeMap<u16, (u16, u16)>,
}

impl Rules {
    fn of(palette: &Palette<Filler>) -> Self {
        let by_id = entries(palette).into_iter().map(|(id, key, count)| (id, (key, count)));
        Self { space: palette.kind().id_space(), entries: by_id.collect() }
    }

    /// Returns the id of the cell after the change, unless the ids are renumbered.
    fn set(&mut self, old_id: u16, value: u16) -> u16 {
        if self.space == 1 {
            self.space = 16;
            self.entries.insert(0, (0, 32_768));
        }
        let known = self.entries.iter().find(|(_, (key, _))| *key == value).map(|(id, _)| *id);
        let id = known.unwrap_or_else(|| {
            let vanishes = self.entries[&old_id].1 == 1;
            let free = (0..=u16::MAX).find(|id| !self.entries.contains_key(id)).unwrap();
            let id = if vanishes { old_id } else { free };
            while usize::from(id) >= self.space {
                self.space = if self.space == 16 { 256 } else { 65_536 };
            }
            id
        });
        if id == old_id && known.is_some() {
            return id;
        }
        self.entries.get_mut(&old_id).unwrap().1 -= 1;
        self.entries.retain(|_, (_, count)| *count > 0);
        self.entries.entry(id).or_insert((value, 0)).1 += 1;
        id
    }

    fn space_after_shrinking(&self) -> usize {
        let only_default = self.entries.values().all(|(key, _)| *key == 0);
        match (self.space, self.entries.len()) {
            (65_536, 0..=251) => 256,
            (256, 0..=14) => 16,
            (16, 1) if only_default => 1,
            (space, _) => space,
        }
    }
}

struct Model {
    palette: Palette<Filler>,
    values: Vec<u16>,
    kinds_seen: [bool; 4],
}

impl Model {
    fn set(&mut self, index: u16, value: u16) {
        let mut rules = Rules::of(&self.palette);
        let old_id = self.palette.cells.id(index);
        let differs = self.values[usize::from(index)] != value;
        assert_eq!(self.palette.set(cell(index), filler(value)), Ok(differs));
        self.values[usize::from(index)] = value;
        let id = rules.set(old_id, value);
        if !differs {
            return;
        }
        let space = self.palette.kind().id_space();
        assert_eq!(space, rules.space_after_shrinking());
        if space == rules.space {
            assert_eq!(self.palette.cells.id(index), id);
            assert_eq!(entries(&self.palette), entries_of(&rules));
        } else if space > 1 {
            let ids: Vec<u16> = entries(&self.palette).iter().map(|entry| entry.0).collect();
            assert!(ids.iter().copied().eq(0..u16::try_from(ids.len()).unwrap()));
        }
        self.kinds_seen[usize::from(self.palette.kind().code())] = true;
    }

    fn apply(&mut self, operation: &Operation, values: u16) {
        match *operation {
            Operation::Set { cell, value } => self.set(cell, value),
            Operation::Spread { cell, count, first } => {
                (0..count).for_each(|step| self.set(cell + step, (first + step) % values));
            }
            Operation::Collapse { cell, count, value } => {
                (0..count).for_each(|step| self.set(cell + step, value));
            }
            Operation::Box { corner, opposite, value } => {
                let (corner, opposite) = (cell(corner), cell(opposite));
                let mut changed = 0;
                for cell in in_box(corner, opposite) {
                    let old = &mut self.values[usize::from(cell.index())];
                    changed += usize::from(std::mem::replace(old, value) != value);
                }
                assert_eq!(self.palette.fill(corner, opposite, filler(value)), Ok(changed));
            }
            Operation::Merge { modulus } => {
                self.palette.map_keys(|key| Some(filler(key.bits() % modulus)));
                self.values.iter_mut().for_each(|value| *value %= modulus);
            }
            Operation::Reload => self.palette = decode(&encode(&self.palette)).unwrap(),
            Operation::Rebuild => self.palette = self.palette.rebuilt().unwrap(),
        }
        self.check();
    }

    fn check(&self) {
        assert_eq!(self.palette.check(), []);
        let values =
            self.palette.runs().flat_map(|run| std::iter::repeat_n(run.key.bits(), run.len.into()));
        assert!(values.eq(self.values.iter().copied()));
    }
}

fn entries_of(rules: &Rules) -> Vec<(u16, u16, u16)> {
    rules.entries.iter().map(|(&id, &(key, count))| (id, key, count)).collect()
}

fn run(operations: &[Operation], values: u16) -> [bool; 4] {
    let palette = Palette::empty();
    let mut model = Model { palette, values: vec![0; 32_768], kinds_seen: [false; 4] };
    for operation in operations {
        model.apply(operation, values);
    }
    model.kinds_seen
}

proptest! {
    // The same cases in every run, as in the model of the container.
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(2026),
        ..ProptestConfig::with_cases(24)
    })]

    #[test]
    fn few_values(operations in prop::collection::vec(operation(24), 1..60)) {
        run(&operations, 24);
    }

    #[test]
    fn many_values(operations in prop::collection::vec(operation(400), 1..12)) {
        run(&operations, 400);
    }
}

/// The random tests may miss a type; this test covers all of them.
#[test]
fn every_type_is_reached() {
    let up = Operation::Spread { cell: 0, count: 300, first: 1 };
    let down = Operation::Collapse { cell: 0, count: 300, value: 0 };
    assert_eq!(run(&[up, down.clone(), down], 400), [true; 4]);
}
