//! [`Unread`]: chunks that a verb cannot read, reported without a line for each.

use std::collections::BTreeMap;

use hyworld_maintenance::{Class, Finding};

use super::text;
use crate::exit;

/// How many damaged chunks of a class are described.
const SHOWN: u64 = 20;

/// Counts chunks that cannot be read, and describes the first damaged ones of every class.
#[derive(Debug)]
pub(crate) struct Unread {
    /// What becomes of a damaged chunk, as in "chunk 1,2 *is not searched*".
    damaged_is: String,
    damaged: BTreeMap<Class, u64>,
    newer: u64,
    /// Why a chunk of a newer game cannot be read.
    example: String,
}

impl Unread {
    pub(crate) fn new(damaged_is: impl Into<String>) -> Self {
        let damaged_is = damaged_is.into();
        Self { damaged_is, damaged: BTreeMap::new(), newer: 0, example: String::new() }
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
        let damaged = self.damaged.entry(finding.class).or_default();
        *damaged = damaged.saturating_add(1);
        if *damaged <= SHOWN {
            let is = &self.damaged_is;
            let at = finding.chunk.map(|at| format!("chunk {},{} {is}: ", at.x, at.z));
            let text = format!("{}{}", at.unwrap_or_default(), finding.message);
            exit::complain(&exit::problem(text));
        }
    }

    /// Prints how many damaged chunks of every class were not described, and one line about the
    /// chunks of newer games, in which `newer_are` tells what becomes of them. Returns whether any
    /// chunk was added.
    pub(crate) fn finish(&self, newer_are: [&str; 2]) -> bool {
        for (class, damaged) in &self.damaged {
            if let more @ 1.. = damaged.saturating_sub(SHOWN) {
                let more = text::thousands(more);
                exit::complain(&exit::problem(format!("{class}: and {more} more")));
            }
        }
        if self.newer > 0 {
            let [one, many] = newer_are;
            let are = if self.newer == 1 { one } else { many };
            let chunks = text::count(self.newer, "chunk");
            exit::complain(&exit::problem(format!("{chunks} {are}: {}", self.example)));
        }
        !self.damaged.is_empty() || self.newer > 0
    }
}
