//! Palettes that are built at once, boxes, runs, counts and renames.

use hyworld_coords::SectionArray;

use super::*;

/// Returns `count` different values in turn, without the default value.
fn values(count: u16) -> SectionArray<Filler> {
    SectionArray::from_fn(|cell| filler(cell.index() % count + 100))
}

fn listed(palette: &Palette<Filler>) -> Vec<u16> {
    palette.entries().iter().map(|entry| entry.internal_id).collect()
}

#[test]
fn the_number_of_values_determines_the_type() {
    for (count, kind) in [
        (1, PaletteType::HalfByte),
        (15, PaletteType::HalfByte),
        (16, PaletteType::Byte),
        (255, PaletteType::Byte),
        (256, PaletteType::Short),
        (32_767, PaletteType::Short),
    ] {
        let palette = Palette::from_array(&values(count)).unwrap();
        assert_eq!((palette.kind(), palette.entries().len()), (kind, count.into()));
        assert_eq!(palette.check(), []);
        assert!(palette.to_array() == values(count), "{count} values");
    }
    assert_eq!(Palette::from_array(&values(32_768)), Err(EditError::PaletteFull));
    assert_eq!(Palette::from_array(&SectionArray::filled(filler(0))), Ok(Palette::empty()));
    assert_eq!(
        Palette::from_array(&SectionArray::filled(filler(5))),
        Ok(Palette::filled(filler(5)))
    );
    assert_eq!(Palette::filled(AssetKey::EMPTY), Palette::empty());
}

#[test]
fn built_palettes_list_their_entries_as_the_game_does() {
    let five = Palette::from_array(&values(5)).unwrap();
    // In a table of eight slots, 1, 2, 3 and 4 are in slots 6, 4, 5 and 1.
    assert_eq!(listed(&five), [0, 1, 3, 2, 4]);
    let thirty = Palette::from_array(&values(30)).unwrap();
    assert_eq!(listed(&thirty)[..12], [0, 29, 25, 4, 12, 13, 8, 9, 28, 24, 26, 23]);
    assert_eq!((five.cells.id(0), five.cells.id(4)), (0, 4));
}

#[test]
fn keys_may_repeat_and_be_unused() {
    let keys = [filler(9), filler(1), filler(9), filler(0), filler(4)];
    let indices = SectionArray::from_fn(|cell| [2, 0, 3, 99][usize::from(cell.index() % 4)]);
    let palette = Palette::from_indices(&keys, &indices).unwrap();
    assert_eq!(entries(&palette), [(0, 9, 16_384), (1, 0, 16_384)]);
    assert_eq!([0, 1, 2, 3].map(|index| palette.get(cell(index)).bits()), [9, 9, 0, 0]);
    let default = Palette::<Filler>::from_indices(&[], &SectionArray::filled(0));
    assert_eq!(default, Ok(Palette::empty()));
}

#[test]
fn rebuilding_keeps_the_cells() {
    let mut grown = Palette::empty();
    grown.set_many((1..=20).map(|index| (cell(index), filler(index)))).unwrap();
    grown.set_many((5..=20).map(|index| (cell(index), filler(0)))).unwrap();
    let rebuilt = grown.rebuilt().unwrap();
    assert!(rebuilt.same_cells(&grown) && grown.same_cells(&rebuilt));
    assert_eq!(rebuilt.check(), []);
    let mut other = rebuilt.clone();
    other.set(cell(32_767), filler(1)).unwrap();
    assert!(!other.same_cells(&grown) && !grown.same_cells(&other));
    assert!(!Palette::filled(filler(1)).same_cells(&Palette::filled(filler(2))));
}

#[test]
fn runs_are_maximal() {
    // Value 7 has two ids, and 12 is not listed. Equal values still form one run.
    let id = |index: usize| match index {
        0..3 => 1,
        3..101 => 2,
        101..200 => 12,
        200..300 => 0,
        _ => 3,
    };
    let table = [(0, 0, 100), (1, 7, 3), (2, 7, 98), (3, 4, 32_468)];
    for kind in [PaletteType::HalfByte, PaletteType::Byte, PaletteType::Short] {
        let palette: Palette<Filler> = decode(&stored(kind, &table, id)).unwrap();
        let runs: Vec<_> =
            palette.runs().map(|run| (run.key.bits(), run.start.index(), run.len)).collect();
        assert_eq!(runs, [(7, 0, 101), (0, 101, 199), (4, 300, 32_468)], "{kind:?}");
        let mut seen = Vec::new();
        palette.for_each(|cell, key| seen.push((cell, *key)));
        assert!(seen.iter().map(|(cell, _)| *cell).eq(LocalBlock::all()));
        assert!(seen.iter().all(|(cell, key)| palette.get(*cell) == key));
        let found = palette.indices();
        assert_eq!(found.keys.len(), 5);
        assert!(
            seen.iter().all(|(cell, key)| found.keys[usize::from(found.indices[*cell])] == key)
        );
    }
    let empty = Palette::<AssetKey>::empty();
    assert_eq!(empty.runs().map(|run| run.len).collect::<Vec<_>>(), [32_768]);
    assert_eq!(empty.indices().keys, [&AssetKey::EMPTY]);
    assert_eq!(empty.stored_counts(), [(&AssetKey::EMPTY, 32_768)]);
}

#[test]
fn uniform_palettes_are_detected() {
    assert_eq!(Palette::empty().uniform(), Some(&AssetKey::EMPTY));
    assert_eq!(Palette::filled(key("Rock_Stone")).uniform(), Some(&key("Rock_Stone")));
    let mut palette = Palette::filled(key("Rock_Stone"));
    palette.set(cell(32_767), key("Soil")).unwrap();
    assert_eq!(palette.uniform(), None);
}

#[test]
fn boxes_are_filled_from_any_two_corners() {
    let mut palette = Palette::empty();
    let (low, high) = (LocalBlock::new(2, 3, 30).unwrap(), LocalBlock::new(4, 3, 31).unwrap());
    let (one, other) = (LocalBlock::new(4, 3, 30).unwrap(), LocalBlock::new(2, 3, 31).unwrap());
    assert_eq!(palette.fill(low, high, key("A")), Ok(6));
    assert_eq!(palette.fill(one, other, key("A")), Ok(0));
    assert_eq!(palette.set(low, key("B")), Ok(true));
    assert_eq!(palette.fill(other, one, key("A")), Ok(1));
    assert_eq!(palette.exact_counts(), [(&AssetKey::EMPTY, 32_762), (&key("A"), 6)]);
    assert_eq!(palette.fill(cell(0), cell(32_767), key("C")), Ok(32_768));
    assert_eq!(palette.stored_counts(), [(&key("C"), 32_768)]);
    assert_eq!(palette.fill(cell(0), cell(32_767), AssetKey::EMPTY), Ok(32_768));
    assert_eq!(palette, Palette::empty());
}

#[test]
fn a_box_over_many_values_shrinks_at_once() {
    let mut palette = Palette::from_array(&values(300)).unwrap();
    let mut other = palette.clone();
    other.fill(cell(0), cell(32_767), filler(0)).unwrap();
    assert_eq!(other, Palette::empty());
    let low = LocalBlock::new(0, 0, 0).unwrap();
    palette.fill(low, LocalBlock::new(31, 31, 30).unwrap(), filler(3)).unwrap();
    assert_eq!(palette.check(), []);
    assert_eq!(palette.kind(), PaletteType::Short);
    palette.fill(low, LocalBlock::new(31, 30, 31).unwrap(), filler(3)).unwrap();
    assert_eq!((palette.kind(), palette.entries().len()), (PaletteType::Byte, 33));
    palette.fill(low, LocalBlock::new(31, 31, 31).unwrap(), filler(3)).unwrap();
    assert_eq!((palette.kind(), palette.entries().len()), (PaletteType::HalfByte, 1));
    assert_eq!(palette.check(), []);
}

#[test]
fn names_that_become_equal_are_merged() {
    let mut palette = Palette::empty();
    for (index, name) in [(1, "Old_A"), (2, "B"), (3, "Old_B"), (4, "C")] {
        palette.set(cell(index), key(name)).unwrap();
    }
    let before = palette.clone();
    assert!(!palette.map_keys(|_| None));
    assert!(!palette.map_keys(|key| Some(key.clone())));
    assert_eq!(palette, before);
    assert!(palette.map_keys(|name| name.as_str().strip_prefix("Old_").map(key)));
    assert_eq!(palette.check(), []);
    let names: Vec<_> = (1..5).map(|index| palette.get(cell(index)).as_str()).collect();
    assert_eq!(names, ["A", "B", "B", "C"]);
    let listed: Vec<_> =
        palette.entries().iter().map(|e| (e.internal_id, e.key.as_str(), e.count)).collect();
    assert_eq!(listed, [(0, "Empty", 32_764), (2, "B", 2), (4, "C", 1), (1, "A", 1)]);
    // The type does not change, even if all cells are air; the next change updates it.
    assert!(palette.map_keys(|_| Some(AssetKey::EMPTY)));
    assert_eq!(
        (palette.kind(), palette.uniform()),
        (PaletteType::HalfByte, Some(&AssetKey::EMPTY))
    );
    assert!(palette.same_cells(&Palette::empty()));
}
