//! The JSON that each verb prints, for its long help: the sections of `docs/json.md`.

const PAGE: &str = include_str!("../../../../docs/json.md");

/// The section about a verb, which must be there.
pub(super) fn of(verb: &str) -> String {
    let section =
        PAGE.split("\n## ").find_map(|section| section.strip_prefix(verb)?.strip_prefix('\n'));
    let mut text = String::new();
    let mut is_shape = false;
    for line in section.unwrap_or_default().lines() {
        match line {
            "" => {}
            "```" => is_shape = !is_shape,
            _ if is_shape => text.extend(["  ", line, "\n"]),
            _ => text.extend([line, "\n"]),
        }
    }
    text.truncate(text.trim_end().len());
    text
}
