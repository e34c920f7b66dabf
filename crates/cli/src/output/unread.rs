//! [`Unread`]: chunks that a verb cannot read, reported without a line for each.

use hyworld_maintenance::{Class, Finding};

use super::text;
use crate::exit;

/// How many damaged chunks are described.
const SHOWN: u64 = 20;

/// Counts chunks that cannot be read, and describes the first damaged ones.
#[derive(Debug)]
pub(crate) struct Unread {
    /// What becomes of a damaged chunk, as in "chunk 1,2 *is not searched*".
    damaged_is: &'static str,
    damaged: u64,
    newer: u64,
    /// Why a chunk of a newer game cannot be read.
    example: String,
}

impl Unread {
    pub(crate) fn new(damaged_is: &'static str) -> Self {
        Self { damaged_is, damaged: 0, newer: 0, example: String::new() }
    }

    /// Adds a chunk. Chunks of newer games are described together by `finish`.
    pub(crate) fn add(&mut self, finding: &Finding) {
        if finding.class == Class::Newer {
            if self.newer == 0 {
                self.example.clone_from(&finding.message);
            }
            self.newer = self.newer.saturating_add(1);
            return;
        }
        self.damaged = self.damaged.saturating_add(1);
        if self.damaged <= SHOWN {
            let is = self.damaged_is;
            let at = finding.chunk.map(|at| format!("chunk {},{} {is}: ", at.x, at.z));
            let text = format!("{}{}", at.unwrap_or_default(), finding.message);
            exit::complain(&exit::problem(text));
        }
    }

    /// Describes the chunks of newer games in one line, in which `newer_are` tells what becomes of
    /// them. Returns whether any chunk was added.
    pub(crate) fn finish(&self, newer_are: [&str; 2]) -> bool {
        if self.newer > 0 {
            let [one, many] = newer_are;
            let are = if self.newer == 1 { one } else { many };
            let chunks = text::count(self.newer, "chunk");
            exit::complain(&exit::problem(format!("{chunks} {are}: {}", self.example)));
        }
        self.damaged > 0 || self.newer > 0
    }
}
