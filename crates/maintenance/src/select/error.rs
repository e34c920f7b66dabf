//! [`SelectError`]: why a text is not a selection.

use std::fmt;

/// The number of characters of the text that are shown before and after the position.
const SHOWN_CHARS: usize = 60;

/// Why a text is not a selection. Displays the reason, and below it the text with a caret at the
/// position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SelectError {
    reason: String,
    /// The text around the position, on one line.
    shown: String,
    /// The number of characters of `shown` before the caret, and the number of carets.
    caret: (usize, usize),
    at: usize,
}

impl SelectError {
    /// Creates an error about the bytes `start..end` of a text.
    pub(super) fn new(text: &str, (start, end): (usize, usize), reason: impl Into<String>) -> Self {
        let before = text.get(..start).unwrap_or(text);
        let marked = text.get(start..end).unwrap_or_default();
        let after = text.get(end..).unwrap_or_default();
        let skipped = before.chars().count().saturating_sub(SHOWN_CHARS);
        let dots = if skipped > 0 { "..." } else { "" };
        let before: String = before.chars().skip(skipped).collect();
        let rest: String = marked.chars().chain(after.chars()).take(SHOWN_CHARS).collect();
        let is_cut = marked.chars().chain(after.chars()).nth(SHOWN_CHARS).is_some();
        let before = format!("{dots}{before}");
        let caret = (before.chars().count(), marked.chars().count().clamp(1, SHOWN_CHARS));
        let shown = format!("{before}{rest}{}", if is_cut { "..." } else { "" });
        let printable = |c: char| if c.is_control() { ' ' } else { c };
        let shown = shown.chars().map(printable).collect();
        Self { reason: reason.into(), shown, caret, at: start }
    }

    /// Returns what is wrong and what was expected.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the byte of the text where the reason applies.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl fmt::Display for SelectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, carets) = self.caret;
        writeln!(f, "{}", self.reason)?;
        writeln!(f, "  {}", self.shown)?;
        write!(f, "  {:before$}{}", "", "^".repeat(carets))
    }
}

impl std::error::Error for SelectError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_is_below_the_position() {
        let error = SelectError::new("chunk:1,2 und x > 3", (10, 13), "unexpected `und`");
        let lines = ["unexpected `und`", "  chunk:1,2 und x > 3", "            ^^^"];
        assert_eq!(error.to_string(), lines.join("\n"));
        assert_eq!((error.at(), error.reason()), (10, "unexpected `und`"));
        let end = SelectError::new("x >", (3, 3), "a number is missing").to_string();
        assert_eq!(end, "a number is missing\n  x >\n     ^");
    }

    #[test]
    fn long_texts_are_cut_around_the_position() {
        let text = format!("{}!{}", "a".repeat(500), "b\n".repeat(500));
        let shown = SelectError::new(&text, (500, 501), "unexpected").to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines.len() == 3 && lines[1].len() < 140, "{shown}");
        assert_eq!(lines[1].find('!'), lines[2].find('^'));
    }
}
