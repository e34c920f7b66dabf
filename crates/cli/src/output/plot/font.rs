//! A font of 3 x 5 pixels for plots in PNG files, in which no text can be stored.

/// The characters with their rows from the top, three bits each, as octal digits.
const GLYPHS: [(char, u16); 48] = [
    ('A', 0o25755),
    ('B', 0o65656),
    ('C', 0o34443),
    ('D', 0o65556),
    ('E', 0o74647),
    ('F', 0o74644),
    ('G', 0o34553),
    ('H', 0o55755),
    ('I', 0o72227),
    ('J', 0o11152),
    ('K', 0o55655),
    ('L', 0o44447),
    ('M', 0o57755),
    ('N', 0o65555),
    ('O', 0o25552),
    ('P', 0o65644),
    ('Q', 0o25573),
    ('R', 0o65655),
    ('S', 0o34216),
    ('T', 0o72222),
    ('U', 0o55557),
    ('V', 0o55552),
    ('W', 0o55775),
    ('X', 0o55255),
    ('Y', 0o55222),
    ('Z', 0o71247),
    ('0', 0o75557),
    ('1', 0o26227),
    ('2', 0o71747),
    ('3', 0o71717),
    ('4', 0o55711),
    ('5', 0o74717),
    ('6', 0o74757),
    ('7', 0o71111),
    ('8', 0o75757),
    ('9', 0o75717),
    ('_', 0o00007),
    ('-', 0o00700),
    ('.', 0o00002),
    (',', 0o00024),
    ('%', 0o51245),
    ('(', 0o24442),
    (')', 0o21112),
    ('*', 0o05250),
    ('/', 0o11244),
    (':', 0o02020),
    ('+', 0o02720),
    (' ', 0),
];

/// The glyph for all other characters.
const BOX: u16 = 0o75557;

/// Returns the pixels of a character, as pairs of column and row. Lower case is shown as upper
/// case.
pub(super) fn pixels(character: char) -> impl Iterator<Item = (u16, u16)> {
    let upper = character.to_ascii_uppercase();
    let found = GLYPHS.iter().find(|(known, _)| *known == upper);
    let glyph = found.map_or(BOX, |(_, glyph)| *glyph);
    let all = (0..5).flat_map(|row| (0..3).map(move |column| (column, row)));
    all.filter(move |(column, row)| glyph >> (14 - row * 3 - column) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyphs_are_different_and_upright() {
        let mut shapes: Vec<Vec<_>> = GLYPHS.iter().map(|(c, _)| pixels(*c).collect()).collect();
        shapes.sort();
        shapes.dedup();
        // The digit zero and the box look the same.
        assert_eq!(shapes.len(), GLYPHS.len());
        let bottom: Vec<_> = pixels('l').filter(|(_, row)| *row == 4).collect();
        assert_eq!(bottom, [(0, 4), (1, 4), (2, 4)]);
        assert!(pixels('\u{e4}').eq(pixels('0')));
    }
}
