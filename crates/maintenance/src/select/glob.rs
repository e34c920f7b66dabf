//! [`Glob`]: patterns of names with `*` and `?`.

use std::fmt;

/// A pattern of names: `*` matches any characters, `?` one character, and other characters
/// themselves, in upper or lower case.
///
/// ```
/// use hyworld_maintenance::Glob;
///
/// let ore = Glob::new("ore_*_stone");
/// assert!(ore.matches("Ore_Iron_Stone") && !ore.matches("Ore_Iron_Basalt"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Glob {
    text: String,
    pattern: Vec<char>,
}

impl Glob {
    /// Creates a pattern. Every text is a pattern.
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), pattern: text.chars().map(lower).collect() }
    }

    /// Returns whether the whole name matches. Needs at most as many steps as the product of both
    /// lengths.
    pub fn matches(&self, name: &str) -> bool {
        let mut pattern = self.pattern.as_slice();
        let mut rest = name.chars();
        // The pattern after the last `*`, and the part of the name that `*` can still extend over.
        let mut retry = None;
        loop {
            match pattern.split_first() {
                Some(('*', after)) => {
                    retry = Some((after, rest.clone()));
                    pattern = after;
                    continue;
                }
                Some((wanted, after)) => {
                    let mut next = rest.clone();
                    let is_same = |found| *wanted == '?' || lower(found) == *wanted;
                    if next.next().is_some_and(is_same) {
                        (pattern, rest) = (after, next);
                        continue;
                    }
                }
                None if rest.as_str().is_empty() => return true,
                None => {}
            }
            let Some((after, mut longer)) = retry.take() else { return false };
            if longer.next().is_none() {
                return false;
            }
            (pattern, rest) = (after, longer.clone());
            retry = Some((after, longer));
        }
    }

    /// Returns the name if the pattern matches only one, in upper or lower case.
    pub fn literal(&self) -> Option<&str> {
        (!self.text.contains(['*', '?'])).then_some(&self.text)
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns the lower case of a character, if it is one character.
fn lower(character: char) -> char {
    let mut lower = character.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        let cases = [
            ("Rock_Stone", "rock_stone", true),
            ("Rock_Stone", "Rock_Stone_Brick", false),
            ("*", "", true),
            ("?", "", false),
            ("*_Iron_*", "Ore_Iron_Stone", true),
            ("*_Iron_*", "Ore_Iron", false),
            ("Ore_????_Stone", "Ore_Iron_Stone", true),
            ("*a*b", "xaxbxaxb", true),
            ("*a*b", "xaxbxaxbx", false),
            ("**Chest", "**Chest", true),
            ("", "", true),
            ("", "a", false),
            ("\u{c4}*", "\u{e4}pfel", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(Glob::new(pattern).matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_hostile_pattern_takes_a_bounded_number_of_steps() {
        let pattern = Glob::new(&"*a".repeat(500));
        assert!(!pattern.matches(&format!("{}b", "a".repeat(5_000))));
    }
}
