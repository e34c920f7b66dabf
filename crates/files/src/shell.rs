//! Quotes paths for commands in error messages.

use std::path::Path;

/// Formats a path for a shell: quoted if needed, with control characters escaped.
pub fn shell_word(path: &Path) -> String {
    let mut text = String::new();
    for character in path.display().to_string().chars() {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:=@%~".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_where_a_shell_needs_it() {
        let cases = [
            ("a/0.0.region.bin", "a/0.0.region.bin"),
            ("My World", "'My World'"),
            ("", "''"),
            ("it's", r"'it'\''s'"),
            ("a\nb", r"'a\nb'"),
        ];
        for (path, expected) in cases {
            assert_eq!(shell_word(Path::new(path)), expected);
        }
    }
}
