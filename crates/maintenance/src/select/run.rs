//! Evaluates a selection on the chunks of a storage.

use hyworld_chunk::Chunk;
use hyworld_coords::ChunkPos;
use hyworld_providers::{ChunkStorage, ChunkStorageExt};

use super::area::Window;
use super::chunk_set::ChunkSet;
use super::condition::{Condition, Cost, Flag};
use super::facts::Facts;
use super::truth::Truth;
use super::{Node, Selection};
use crate::finding::{Class, Finding};
use crate::progress::Progress;
use crate::scan::{ScanOptions, Scanned, scan_positions};
use crate::touched::TouchedRules;

/// Returns the stored chunks that are selected. Reads only what the selection needs: no regions
/// outside the selected area, and no chunk whose position already decides. If a test cannot be
/// decided because a chunk cannot be read or decoded, the chunk is not selected, and `found` is
/// called.
pub fn select(
    storage: &dyn ChunkStorage,
    selection: &Selection,
    options: &ScanOptions,
    found: &mut dyn FnMut(&Finding),
    progress: &dyn Progress,
) -> ChunkSet {
    let all = selection.needs_stored().then(|| storage.positions().flatten().collect());
    let mut rules = selection.rules.clone();
    if selection.needs_survey() {
        rules.learn(storage, options);
    }
    let run = Run { storage, selection, rules: &rules, all: all.as_ref() };
    let mut selected = ChunkSet::new();
    let undecided = run.by_index(&mut selected, found);
    if undecided.is_empty() {
        return selected;
    }
    progress.expect(Some(undecided.len()));
    let positions = Box::new(undecided.iter().map(Ok));
    let test = |at, document| run.by_contents(at, document);
    let _ended = scan_positions(storage, positions, options, test, |step| match step {
        Scanned::Unlisted(error) => found(&Finding::of_storage(&error)),
        Scanned::Chunk(at, (truth, finding)) => {
            progress.advance(1);
            if truth == Truth::Yes {
                selected.insert(at);
            }
            if let Some(finding) = finding.filter(|_| truth == Truth::Unknown) {
                found(&finding);
            }
        }
    });
    selected
}

/// An evaluation.
struct Run<'a> {
    storage: &'a dyn ChunkStorage,
    selection: &'a Selection,
    rules: &'a TouchedRules,
    /// All stored chunks, if borders need them.
    all: Option<&'a ChunkSet>,
}

impl Run<'_> {
    /// Adds the chunks that positions and the index of the storage select. Returns those that must
    /// be read.
    fn by_index(&self, selected: &mut ChunkSet, found: &mut dyn FnMut(&Finding)) -> ChunkSet {
        let (selection, mut undecided) = (self.selection, ChunkSet::new());
        let is_wanted = |region| selection.test_region(region) != Truth::No;
        for at in self.storage.positions_in(&is_wanted) {
            let at = match at {
                Ok(at) => at,
                Err(error) => {
                    found(&Finding::of_storage(&error));
                    continue;
                }
            };
            let mut truth = selection.test_position(at, self.all);
            if truth == Truth::Unknown && selection.uses_index() {
                truth = self.test(&self.stored(at), Cost::Index);
            }
            match truth {
                Truth::Yes => selected.insert(at),
                Truth::Unknown => undecided.insert(at),
                Truth::No => false,
            };
        }
        undecided
    }

    /// Returns what the index of the storage knows about a chunk.
    fn stored(&self, at: ChunkPos) -> Facts<'_> {
        let mut facts = Facts::new(at, self.rules);
        if self.selection.uses_index() {
            facts.size = self.storage.size(at).ok().flatten();
            let is_sealed = |node: &Node| {
                matches!(node, Node::Test(Condition::Flag { flag: Flag::Sealed, .. }))
            };
            if self.selection.root.any(&is_sealed) {
                facts.is_sealed = Some(self.is_sealed(at));
            }
        }
        facts
    }

    fn is_sealed(&self, at: ChunkPos) -> bool {
        let Some(frames) = self.storage.frames() else { return false };
        let blob = frames.read_frames(&[at]).pop().and_then(Result::ok).flatten();
        blob.is_some_and(|blob| matches!(blob.seal(), Ok(Some(_))))
    }

    /// Tests a chunk with its document. Returns why a test is undecided.
    fn by_contents(
        &self,
        at: ChunkPos,
        document: hyworld_providers::Result<Option<Vec<u8>>>,
    ) -> (Truth, Option<Finding>) {
        let decoded = match document {
            // The chunk is missing: it was removed after the listing, or its document is empty.
            Ok(None) => return (Truth::No, None),
            Ok(Some(document)) if document.is_empty() => return (Truth::No, None),
            Ok(Some(document)) => {
                Chunk::decode(document).map_err(|error| Finding::at(Class::Document, at, error))
            }
            Err(error) => Err(Finding::of_chunk(at, &error)),
        };
        let (chunk, finding) = match decoded {
            Ok(chunk) => (Some(chunk), None),
            Err(finding) => (None, Some(finding)),
        };
        let mut facts = self.stored(at);
        (facts.chunk, facts.is_unreadable) = (chunk.as_ref(), chunk.is_none());
        let mut tests = Cost::OF_DOCUMENTS.into_iter().map(|cost| self.test(&facts, cost));
        let truth = tests.find(|truth| *truth != Truth::Unknown).unwrap_or(Truth::Unknown);
        let error = facts.error.borrow();
        let undecided = error.as_ref().map(|error| Finding::of_component(at, error));
        (truth, finding.or(undecided))
    }

    /// Tests a chunk with everything up to a cost.
    fn test(&self, facts: &Facts<'_>, cost: Cost) -> Truth {
        let window = Window::of_chunk(facts.at);
        self.selection.root.test(&|node| match node {
            Node::Area(area) => area.test(window, self.all),
            Node::Test(condition) if condition.cost() <= cost => facts.test(condition),
            _ => Truth::Unknown,
        })
    }
}
