//! Strings with the escapes that the game writes.

use unicode_general_category::{GeneralCategory, get_general_category};

/// Appends a quoted string. Letters, digits, spaces, punctuation and symbols are not escaped.
/// Everything else is escaped one UTF-16 unit at a time, including all characters that need two
/// units.
pub(super) fn write(text: &str, out: &mut String) {
    out.push('"');
    let is_verbatim = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    // Most names need no escapes.
    if text.as_bytes().iter().all(is_verbatim) {
        out.push_str(text);
        out.push('"');
        return;
    }
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if is_plain(character) => out.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let escape = format!("\\u{unit:04x}");
                    out.push_str(&escape);
                }
            }
        }
    }
    out.push('"');
}

fn is_plain(character: char) -> bool {
    use GeneralCategory as Category;
    if character.is_ascii() {
        return !character.is_ascii_control();
    }
    if character.len_utf16() > 1 {
        return false;
    }
    matches!(
        get_general_category(character),
        Category::UppercaseLetter
            | Category::LowercaseLetter
            | Category::TitlecaseLetter
            | Category::OtherLetter
            | Category::DecimalNumber
            | Category::LetterNumber
            | Category::OtherNumber
            | Category::SpaceSeparator
            | Category::DashPunctuation
            | Category::OpenPunctuation
            | Category::ClosePunctuation
            | Category::ConnectorPunctuation
            | Category::OtherPunctuation
            | Category::InitialPunctuation
            | Category::FinalPunctuation
            | Category::MathSymbol
            | Category::CurrencySymbol
            | Category::ModifierSymbol
            | Category::OtherSymbol
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_escapes() {
        for (text, expected) in [
            ("plain text!", "\"plain text!\""),
            ("\"\\\u{8}\u{c}\n\r\t/", "\"\\\"\\\\\\b\\f\\n\\r\\t/\""),
            ("\u{0}\u{1f}\u{7f}", "\"\\u0000\\u001f\\u007f\""),
            // A letter, a number form, a currency sign and a no-break space are not escaped.
            ("\u{e9}\u{2160}\u{20ac}\u{a0}", "\"\u{e9}\u{2160}\u{20ac}\u{a0}\""),
            // A modifier letter, a combining accent, a line separator and a private character are.
            ("\u{2b0}\u{301}\u{2028}\u{e000}", "\"\\u02b0\\u0301\\u2028\\ue000\""),
            ("\u{1f600}", "\"\\ud83d\\ude00\""),
        ] {
            let mut out = String::new();
            write(text, &mut out);
            assert_eq!(out, expected);
        }
    }
}
