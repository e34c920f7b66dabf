//! The rules for growing and shrinking, one at a time.

use hyworld_coords::SectionArray;

use super::*;

/// Creates a palette by setting the first cells to these values, one after the other.
fn grown(values: impl IntoIterator<Item = u16>) -> Palette<Filler> {
    let mut palette = Palette::empty();
    for (index, value) in (0..).zip(values) {
        palette.set(cell(index), filler(value)).unwrap();
    }
    assert_eq!(palette.check(), []);
    palette
}

#[test]
fn a_fresh_palette_has_the_default_as_its_first_entry() {
    assert_eq!(entries(&grown([7])), [(0, 0, 32_767), (1, 7, 1)]);
    let mut empty: Palette<Filler> = Palette::empty();
    assert_eq!(empty.set(cell(3), filler(0)), Ok(false));
    assert_eq!(empty.kind(), PaletteType::Empty);
}

#[test]
fn half_bytes_hold_sixteen_values_and_bytes_256() {
    for (values, kind) in [
        (15, PaletteType::HalfByte),
        (16, PaletteType::Byte),
        (255, PaletteType::Byte),
        (256, PaletteType::Short),
    ] {
        let palette = grown(1..=values);
        assert_eq!(palette.kind(), kind, "{values} values and the default");
        // Ids are assigned in order and do not change when the palette grows.
        for index in 0..values {
            assert_eq!(palette.cells.id(index), index + 1);
        }
    }
}

#[test]
fn bytes_become_half_bytes_at_fourteen() {
    let mut palette = grown(1..=16);
    for (last, kind) in
        [(15, PaletteType::Byte), (14, PaletteType::Byte), (13, PaletteType::HalfByte)]
    {
        // Removing this value leaves `last` values and the default.
        palette.set(cell(last), filler(0)).unwrap();
        assert_eq!(palette.kind(), kind, "{last} values and the default");
    }
    // Ids are renumbered in the order of the list, which is that of a table of the game.
    let order = [0, 2, 6, 4, 12, 13, 8, 9, 11, 10, 1, 3, 7, 5];
    let numbered = (0..).zip(order).map(|(id, key)| (id, key, if id == 0 { 32_755 } else { 1 }));
    assert_eq!(entries(&palette), numbered.collect::<Vec<_>>());
    let listed: Vec<u16> = palette.entries().iter().map(|entry| entry.internal_id).collect();
    assert_eq!(listed, order);
    assert_eq!(palette.check(), []);
}

#[test]
fn shorts_become_bytes_at_251() {
    let mut palette = grown(1..=256);
    for last in (250..256).rev() {
        assert_eq!(palette.kind(), PaletteType::Short, "{} entries", palette.entries().len());
        palette.set(cell(last), filler(0)).unwrap();
    }
    assert_eq!((palette.kind(), palette.entries().len()), (PaletteType::Byte, 251));
    assert_eq!(palette.check(), []);
    assert!((0..250).all(|index| palette.get(cell(index)) == &filler(index + 1)));
}

#[test]
fn half_bytes_become_empty_when_only_the_default_is_left() {
    let mut one = grown([7]);
    one.set(cell(0), filler(0)).unwrap();
    assert_eq!(one, Palette::empty());
    // A single other value does not make a palette empty.
    let mut full = Palette::filled(filler(7));
    full.set(cell(0), filler(0)).unwrap();
    full.set(cell(0), filler(7)).unwrap();
    assert_eq!((full.kind(), entries(&full)), (PaletteType::HalfByte, vec![(0, 7, 32_768)]));
}

#[test]
fn a_new_value_takes_the_lowest_free_id() {
    let mut palette = grown([10, 20, 30, 40]);
    palette.set(cell(1), filler(10)).unwrap();
    assert_eq!(entries(&palette).iter().map(|entry| entry.0).collect::<Vec<_>>(), [0, 1, 3, 4]);
    palette.set(cell(9), filler(50)).unwrap();
    assert_eq!(palette.cells.id(9), 2);
    // It is listed where the game would list it: at the position of the previous owner of the id.
    let listed: Vec<_> = palette.entries().iter().map(|e| (e.internal_id, e.key.bits())).collect();
    assert_eq!(listed, [(0, 0), (2, 50), (4, 40), (1, 10), (3, 30)]);
}

/// A value that is removed and added again keeps its position in the list, whether the palette
/// grew cell by cell or was built at once. The exception is a palette that outgrew its first table
/// of 24 values: the newest value is at the end, where the game would have reordered the list.
#[test]
fn a_value_that_is_added_again_keeps_its_position() {
    let built = |last| SectionArray::from_fn(|cell| filler(cell.index().min(last)));
    let built = |last| Palette::from_array(&built(last)).unwrap();
    let originals = [3, 12, 13, 22].map(|last| grown(1..=last));
    for original in originals.into_iter().chain([3, 12, 13, 23, 24, 40, 90].map(built)) {
        let bytes = encode(&original);
        let entries = u16::try_from(original.entries().len()).unwrap();
        for index in 1..entries - 2 {
            let mut palette: Palette<Filler> = decode(&bytes).unwrap();
            let value = *palette.get(cell(index));
            palette.set(cell(index), *original.get(cell(index + 1))).unwrap();
            assert_eq!(palette.entries().len(), original.entries().len() - 1);
            let mut palette: Palette<Filler> = decode(&encode(&palette)).unwrap();
            palette.set(cell(index), value).unwrap();
            assert!(encode(&palette) == bytes, "{index} of {entries}");
        }
    }
}

/// One more and one less value at a limit do not change the type back and forth, as in the game.
#[test]
fn a_palette_does_not_return_to_its_old_type() {
    // A seventeenth value makes the palette grow; sixteen do not make it shrink.
    let mut grew = grown(1..=15);
    grew.set(cell(100), filler(99)).unwrap();
    grew.set(cell(100), filler(0)).unwrap();
    assert_eq!((grew.kind(), grew.entries().len()), (PaletteType::Byte, 16));
    // Removing the fifteenth value makes it shrink; a fifteenth value does not make it grow.
    let mut shrank = grown(1..=16);
    for index in [15, 14] {
        shrank.set(cell(index), filler(0)).unwrap();
    }
    assert_eq!((shrank.kind(), shrank.entries().len()), (PaletteType::Byte, 15));
    shrank.set(cell(3), filler(0)).unwrap();
    shrank.set(cell(3), filler(4)).unwrap();
    assert_eq!((shrank.kind(), shrank.entries().len()), (PaletteType::HalfByte, 15));
    // An id is not reused if it is not the lowest free one.
    let bytes =
        stored(
            PaletteType::HalfByte,
            &[(0, 0, 32_767), (9, 7, 1)],
            |index| {
                if index == 5 { 9 } else { 0 }
            },
        );
    let mut other: Palette<Filler> = decode(&bytes).unwrap();
    other.set(cell(5), filler(0)).unwrap();
    assert_eq!(other, Palette::empty());
    other.set(cell(5), filler(7)).unwrap();
    assert_eq!(entries(&other), [(0, 0, 32_767), (1, 7, 1)]);
}

#[test]
fn a_new_value_takes_the_id_of_the_value_it_replaces() {
    let mut palette = grown([10, 20, 30]);
    palette.set(cell(0), filler(0)).unwrap();
    assert_eq!(palette.entries().len(), 3);
    // Id 1 is free, but only this cell has the value 20, so its id 2 is reused.
    palette.set(cell(1), filler(60)).unwrap();
    let listed: Vec<_> = palette.entries().iter().map(|e| (e.internal_id, e.key.bits())).collect();
    assert_eq!(listed, [(0, 0), (2, 60), (3, 30)]);
    // So a full palette does not have to grow.
    let mut full = grown(1..=15);
    full.set(cell(4), filler(99)).unwrap();
    assert_eq!((full.kind(), full.cells.id(4)), (PaletteType::HalfByte, 5));
    full.set(cell(40), filler(100)).unwrap();
    assert_eq!((full.kind(), full.cells.id(40)), (PaletteType::Byte, 16));
}

#[test]
fn an_unknown_order_is_kept() {
    let listed = [(9, 5, 10_923), (2, 0, 10_923), (15, 77, 10_922)];
    let bytes = stored(PaletteType::HalfByte, &listed, |index| [9, 2, 15][index % 3]);
    let mut palette: Palette<Filler> = decode(&bytes).unwrap();
    palette.set(cell(0), filler(1)).unwrap();
    let order: Vec<_> = palette.entries().iter().map(|entry| entry.internal_id).collect();
    assert_eq!(order, [9, 2, 15, 0]);
    // Undoing the change restores every byte.
    palette.set(cell(0), filler(5)).unwrap();
    assert!(encode(&palette) == bytes);
}

#[test]
fn a_full_palette_rejects_new_values() {
    let values = SectionArray::from_fn(|cell| filler(cell.index() % 32_767));
    let mut palette = Palette::from_array(&values).unwrap();
    assert_eq!(palette.set(cell(32_767), filler(0)), Ok(false));
    assert_eq!(palette.entries().len(), PALETTE_ENTRIES_MAX);
    let before = encode(&palette);
    assert_eq!(palette.set(cell(0), filler(40_000)), Err(EditError::PaletteFull));
    assert!(!palette.can_fill(cell(0), cell(0), &filler(40_000)));
    assert_eq!(palette.set(cell(0), filler(3)), Ok(true));
    // Cell 32,767 is the last one with the default value, which is replaced.
    assert!(palette.can_fill(cell(32_767), cell(32_767), &filler(40_000)));
    assert_eq!(palette.set(cell(32_767), filler(40_000)), Ok(true));
    assert_eq!(palette.check(), []);
    assert!(decode::<Filler>(&encode(&palette)).unwrap() == palette);
    assert!(encode(&palette) != before);
}

/// All ids except one are listed, and the cell with that id reads as the default value. A bug wrote
/// such a palette with 32,768 entries and a count of 32,767.
#[test]
fn a_full_list_with_an_unlisted_cell_is_not_changed() {
    let listed: Vec<_> = (0..32_767).map(|id| (id, id + 1, 1)).collect();
    let bytes = stored(PaletteType::Short, &listed, |index| u16::try_from(index).unwrap());
    let palette: Palette<Filler> = decode(&bytes).unwrap();
    assert_eq!(palette.get(cell(32_767)), &filler(0));
    let mut edited = palette.clone();
    let new = filler(40_000);
    assert_eq!(edited.set(cell(5), new), Err(EditError::PaletteFull));
    assert_eq!(edited.fill(cell(0), cell(9), new), Err(EditError::PaletteFull));
    assert!(edited == palette && encode(&edited) == bytes);
    // Renaming entries needs no room, and the result can be read.
    assert!(edited.map_keys(|key| (*key == filler(8)).then_some(new)));
    let again: Palette<Filler> = decode(&encode(&edited)).unwrap();
    assert_eq!((again.get(cell(7)), again.get(cell(32_767))), (&new, &filler(0)));
}
