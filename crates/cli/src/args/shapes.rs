//! The JSON output of each verb, from the sections of `docs/json.md`. The long help includes the
//! text of a section; the man pages also include the shapes.

use std::sync::LazyLock;

const PAGE: &str = include_str!("../../../../docs/json.md");

/// The sections of the page, each with its heading. They are kept, because the sections of all
/// verbs are needed whenever the program starts.
static SECTIONS: LazyLock<Vec<&str>> = LazyLock::new(|| PAGE.split("\n## ").collect());

/// Returns the text of a verb's section, without the shapes.
pub(super) fn of(verb: &str) -> String {
    let mut words = text(verb, false);
    words.push_str(
        "The shape of the JSON is in docs/json.md and in the man page (`hyworld man DIR`).",
    );
    words
}

/// Returns the whole section of a verb; empty if there is none.
pub(super) fn whole(verb: &str) -> String {
    text(verb, true)
}

fn text(verb: &str, with_shapes: bool) -> String {
    let mut sections = SECTIONS.iter();
    let section = sections.find_map(|section| section.strip_prefix(verb)?.strip_prefix('\n'));
    let mut text = String::new();
    let mut is_shape = false;
    for line in section.unwrap_or_default().lines() {
        match line {
            "" => {}
            "```" => is_shape = !is_shape,
            _ if is_shape && with_shapes => text.extend(["  ", line, "\n"]),
            _ if is_shape => {}
            _ => text.extend([line, "\n"]),
        }
    }
    text
}
