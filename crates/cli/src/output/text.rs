//! Formats numbers, sizes and times for people, and makes text safe for a terminal.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// The width at which sentences are wrapped.
pub(crate) const WIDTH: usize = 100;

/// Formats `1234567` as `1,234,567`.
pub(crate) fn thousands(number: impl Into<u64>) -> String {
    let digits = number.into().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (done, digit) in digits.chars().enumerate() {
        if done > 0 && (digits.len() - done) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a time in milliseconds since 1970 as `2026-03-26 18:05 UTC`.
pub(crate) fn time(time_ms: u64) -> String {
    let minutes = time_ms / 60_000;
    let (days, minutes) = (minutes / 1440, minutes % 1440);
    // Years begin in March, so that leap days are last, and eras of 400 years have equal lengths.
    let day = days + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (year * 365 + year / 4 - year / 100);
    let month = (day * 5 + 2) / 153;
    let day = day - (month * 153 + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let (year, hour, minute) = (era * 400 + year + next, minutes / 60, minutes % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// Formats a number of bytes in the largest fitting unit, with one decimal.
pub(crate) fn size(bytes: u64) -> String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let fitting = units.into_iter().find(|&(_, unit)| bytes >= unit);
    match fitting {
        Some((name, unit)) => format!("{} {name}", quotient(bytes, unit)),
        None => count(bytes, "byte"),
    }
}

/// Formats `part` of `whole` as a percentage with one decimal.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let whole = u128::from(whole.max(1));
    let tenths = (u128::from(part) * 1000 + whole / 2) / whole;
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// Writes one line for each part of `all` bytes: name, bytes, share, explanation.
pub(crate) fn write_parts(
    out: &mut impl Write,
    all: u64,
    parts: &[(&str, u64, &str)],
) -> io::Result<()> {
    for (name, bytes, what) in parts {
        let (share, bytes) = (percent(*bytes, all), thousands(*bytes));
        writeln!(out, "    {name:<12} {bytes:>13}  {share:>7}  {what}")?;
    }
    Ok(())
}

/// As [`percent`], but shows `<0.1 %` and `>99.9 %` instead of rounding to 0 % or 100 %.
pub(crate) fn share(part: u64, whole: u64) -> String {
    match percent(part, whole).as_str() {
        "0.0 %" if part > 0 => "<0.1 %".to_owned(),
        "100.0 %" if part < whole => ">99.9 %".to_owned(),
        percent => percent.to_owned(),
    }
}

/// Formats the ratio of `whole` to `part`, such as `12.6:1`.
pub(crate) fn ratio(whole: u64, part: u64) -> String {
    format!("{}:1", quotient(whole, part.max(1)))
}

/// Formats `a / b` with one decimal, rounded down.
fn quotient(a: u64, b: u64) -> String {
    let tenths = u128::from(a) * 10 / u128::from(b.max(1));
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Formats a count with its noun: `1 slot`, `2 slots`.
pub(crate) fn count(number: impl Into<u64>, noun: &str) -> String {
    let number = number.into();
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// Formats a duration in ms or s, with one decimal.
pub(crate) fn duration(time: Duration) -> String {
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    if micros < 1_000_000 {
        format!("{} ms", quotient(micros, 1000))
    } else {
        format!("{} s", quotient(micros, 1_000_000))
    }
}

/// Formats a number of bytes per duration as a speed.
pub(crate) fn speed(bytes: u64, time: Duration) -> String {
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1);
    let a_second = u128::from(bytes) * 1_000_000 / u128::from(micros);
    format!("{}/s", size(u64::try_from(a_second).unwrap_or(u64::MAX)))
}

/// Shortens text to at most `width` characters, ending in dots if it was longer.
pub(crate) fn short(text: &str, width: usize) -> String {
    let printable = printable(text);
    if printable.chars().nth(width).is_none() {
        return printable;
    }
    printable.chars().take(width.saturating_sub(2)).chain(['.', '.']).collect()
}

/// Joins as many of `parts` as fit into `width` characters and adds how many are left out. Always
/// includes the first.
pub(crate) fn join_fitting(parts: &[String], width: usize) -> String {
    const MORE_CHARS: usize = ", 999 more".len();
    let len = |parts: &[String]| -> usize {
        parts.iter().map(|part| part.chars().count().saturating_add(2)).sum()
    };
    // The last part is not followed by a comma.
    if len(parts) <= width.saturating_add(2) {
        return parts.join(", ");
    }
    let fits = |&count: &usize| {
        let first = parts.get(..count).unwrap_or_default();
        len(first).saturating_add(MORE_CHARS) <= width.saturating_add(2)
    };
    // No more parts can fit into the line.
    let count = (2..parts.len().min(width)).take_while(fits).last().unwrap_or(1);
    let first = parts.get(..count).unwrap_or_default().join(", ");
    match parts.len().saturating_sub(count) {
        0 => first,
        more => format!("{first}, {more} more"),
    }
}

/// Formats bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |number: u8| char::from_digit(number.into(), 16).unwrap_or('?');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Splits text into words. A command in backticks counts as one word, so that it is not wrapped.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut is_inside = false;
    for word in text.split(' ') {
        match pieces.last_mut().filter(|_| is_inside) {
            Some(piece) => piece.extend([" ", word]),
            None => pieces.push(word.to_owned()),
        }
        is_inside ^= word.matches('`').count() % 2 == 1;
    }
    pieces
}

/// Wraps text to lines of up to `width` characters, each prefixed with `indent`.
pub(crate) fn wrap(words: &str, indent: &str, width: usize) -> String {
    let mut text = String::new();
    let mut column = usize::MAX;
    for word in &pieces(words) {
        let len = word.chars().count();
        if column.saturating_add(len).saturating_add(1) > width {
            let line_break = if text.is_empty() { "" } else { "\n" };
            text.extend([line_break, indent]);
            column = indent.chars().count();
        } else {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += len;
    }
    text
}

/// Escapes control characters in untrusted text, so that it stays on one line and cannot control
/// the terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            printable.extend(character.escape_default());
        } else {
            printable.push(character);
        }
    }
    printable
}

/// Returns the name of a world if there are several.
pub(crate) fn world_of_several(path: &Path, count: usize) -> Option<String> {
    let name = path.file_name().unwrap_or(path.as_os_str());
    (count > 1).then(|| printable(&name.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        assert_eq!(time(0), "1970-01-01 00:00 UTC");
        assert_eq!(time(951_782_400_000), "2000-02-29 00:00 UTC");
        assert_eq!(time(1_794_918_600_000), "2026-11-17 12:30 UTC");
        assert_eq!(time(1_767_225_599_000), "2025-12-31 23:59 UTC");
    }

    #[test]
    fn commands_are_not_broken() {
        let text = "a word, then `a command of words` and more";
        assert_eq!(wrap(text, "  ", 20), "  a word, then\n  `a command of words`\n  and more");
        assert_eq!(wrap("an open ` is not a command", "", 12), "an open\n` is not a command");
    }

    #[test]
    fn numbers_are_grouped() {
        let cases = [(0_u64, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (number, expected) in cases {
            assert_eq!(thousands(number), expected);
        }
        assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn sizes_take_the_unit_that_they_fill() {
        let cases = [
            (1, "1 byte"),
            (1023, "1,023 bytes"),
            (1024, "1.0 KiB"),
            (1_048_575, "1023.9 KiB"),
            (5 << 30, "5.0 GiB"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(size(bytes), expected);
        }
        assert!(size(u64::MAX).ends_with(" GiB"));
    }

    #[test]
    fn parts_of_nothing_are_nothing() {
        assert_eq!(percent(0, 0), "0.0 %");
        assert_eq!(percent(1, 8), "12.5 %");
        assert_eq!([share(0, 9), share(1, 9999), share(1, 8)], ["0.0 %", "<0.1 %", "12.5 %"]);
        assert_eq!([share(9999, 10_000), share(5, 5)], [">99.9 %", "100.0 %"]);
        assert_eq!(ratio(0, 0), "0.0:1");
        assert_eq!(ratio(460, 10), "46.0:1");
    }

    #[test]
    fn times_and_speeds() {
        assert_eq!(duration(Duration::from_micros(1500)), "1.5 ms");
        assert_eq!(duration(Duration::from_millis(2340)), "2.3 s");
        assert_eq!(speed(1 << 20, Duration::from_millis(500)), "2.0 MiB/s");
    }

    #[test]
    fn long_lines_are_broken_between_words() {
        assert_eq!(wrap("one two three", "  ", 10), "  one two\n  three");
        assert_eq!(wrap("one two", "  ", 9), "  one two");
        assert_eq!(wrap("much_too_long a", "", 4), "much_too_long\na");
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(short("abcdef", 6), "abcdef");
        assert_eq!(short("abcdefg", 6), "abcd..");
        assert_eq!(short("\n", 6), "\\n");
        let parts = ["one", "two", "three"].map(str::to_owned);
        assert_eq!(join_fitting(&parts, 15), "one, two, three");
        assert_eq!(join_fitting(&parts, 14), "one, 2 more");
        let many = ["one", "two", "three", "four"].map(str::to_owned);
        assert_eq!(join_fitting(&many, 18), "one, two, 2 more");
        assert_eq!(join_fitting(&parts, 3), "one, 2 more");
        assert_eq!(join_fitting(&[], 3), "");
    }

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(printable("a\u{1b}[31m\nb"), "a\\u{1b}[31m\\nb");
    }
}
