//! The checks of one chunk.

use hyworld_chunk::bson::RawDocument;
use hyworld_chunk::{
    BlockChunk, BlockComponentChunk, BlockComponentSection, BlockHealthChunk, BlockPhysics,
    BlockSection, Chunk, ChunkSpawnedNpcData, Component, Entity, EntityChunk, EntityLayout,
    EntitySection, EnvironmentChunk, Error, FluidSection, SectionAnomaly, WorldChunk,
};
use hyworld_coords::{BlockPos, ChunkPos, SectionY};

use crate::finding::{Class, Finding};

/// The components that the game needs to load a chunk. It creates missing sections itself.
const NEEDED: [&str; 5] = [
    WorldChunk::ID,
    BlockChunk::ID,
    EnvironmentChunk::ID,
    EntityChunk::ID,
    BlockComponentChunk::ID,
];

/// Runs all checks on a chunk. Returns its entity layout, or `None` if it cannot be read.
pub(super) fn check(
    at: ChunkPos,
    document: Vec<u8>,
    findings: &mut Vec<Finding>,
) -> Option<EntityLayout> {
    let checked = RawDocument::new(&document).and_then(RawDocument::check);
    if let Err(malformed) = checked {
        findings.push(Finding::at(Class::Document, at, malformed));
        return None;
    }
    let chunk = match Chunk::decode(document) {
        Ok(chunk) => chunk,
        Err(error) => {
            findings.push(Finding::at(Class::Document, at, error));
            return None;
        }
    };
    let mut checks = Checks { at, chunk, newer: Vec::new(), findings };
    checks.components();
    for y in SectionY::all() {
        checks.section(y);
    }
    checks.entities();
    if let Some(newer) = Error::one_newer(&checks.newer) {
        checks.findings.push(Finding::of_component(at, newer));
    }
    Some(checks.chunk.entity_layout())
}

struct Checks<'a> {
    at: ChunkPos,
    chunk: Chunk,
    /// Components that a newer game wrote; only one is reported.
    newer: Vec<Error>,
    findings: &'a mut Vec<Finding>,
}

impl Checks<'_> {
    fn found(&mut self, class: Class, message: impl std::fmt::Display) {
        self.findings.push(Finding::at(class, self.at, message));
    }

    fn components(&mut self) {
        self.newer.extend(self.chunk.opaque_components());
        for id in NEEDED {
            if !self.chunk.holder().contains(id) && !self.is_in_sections(id) {
                self.found(Class::Missing, format!("required component {id} is missing"));
            }
        }
        self.component::<BlockChunk>();
        self.component::<EnvironmentChunk>();
        self.environment_names();
        self.component::<BlockHealthChunk>();
        self.component::<BlockComponentChunk>();
        self.component::<EntityChunk>();
        self.component::<ChunkSpawnedNpcData>();
    }

    /// Checks that each entity is in the chunk that stores it: the game loads it with that chunk.
    fn entities(&mut self) {
        let at = self.at;
        let outside = |position: &[f64; 3]| {
            let [x, _, z] = *position;
            BlockPos::from_f64(x, 0.0, z).is_none_or(|block| block.chunk() != at)
        };
        let positions = self.chunk.entities().into_iter().flatten().filter_map(Entity::position);
        let mut outside = positions.filter(outside);
        let Some([x, _, z]) = outside.next() else { return };
        let more = match outside.count() {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        self.found(
            Class::Misplaced,
            format!("an entity is at x {x:.1}, z {z:.1}, outside of this chunk{more}"),
        );
    }

    fn environment_names(&mut self) {
        let environments = self.chunk.get::<EnvironmentChunk>().ok().flatten();
        let long = environments.map(EnvironmentChunk::names_too_long).unwrap_or_default();
        for chars in long {
            let game = "the game reads the chunk but cannot save it again";
            self.found(
                Class::Unsavable,
                format!("EnvironmentChunk: a name has {chars} characters: {game}"),
            );
        }
    }

    /// Returns whether the sections have the data that this chunk component had in older games.
    fn is_in_sections(&self, id: &str) -> bool {
        match id {
            EntityChunk::ID | BlockComponentChunk::ID => {
                self.chunk.entity_layout() != EntityLayout::Chunk
            }
            EnvironmentChunk::ID => {
                self.chunk.environments().is_err_and(|error| error.newer_component().is_some())
            }
            _ => false,
        }
    }

    fn section(&mut self, y: SectionY) {
        self.component_in::<BlockSection>(y, BlockSection::check);
        self.component_in::<FluidSection>(y, FluidSection::check);
        self.component_in::<BlockPhysics>(y, |_| Vec::new());
        self.component_in::<EntitySection>(y, |_| Vec::new());
        self.component_in::<BlockComponentSection>(y, |_| Vec::new());
    }

    fn anomalies(&mut self, y: SectionY, anomalies: &[SectionAnomaly]) {
        for anomaly in anomalies {
            let class = if anomaly.can_be_saved() { Class::Anomaly } else { Class::Unsavable };
            self.found(class, format!("section {}: {anomaly}", y.index()));
        }
    }

    /// Decodes a component of the chunk, and checks that it encodes to the same bytes.
    fn component<C: Component>(&mut self) {
        let round_trips = self.chunk.holder().round_trips::<C>();
        if let Some(is_same) = self.decoded(round_trips) {
            self.check_roundtrip(C::ID, is_same);
        }
    }

    fn component_in<C: Component>(
        &mut self,
        y: SectionY,
        check: impl FnOnce(&C) -> Vec<SectionAnomaly>,
    ) {
        let Some(holder) = self.chunk.section_holder(y) else { return };
        let inside = |error: Error| error.inside(&format!("ChunkColumn.Sections.{}", y.index()));
        let round_trips = holder.round_trips::<C>().map_err(inside);
        let anomalies = holder.get::<C>().ok().flatten().map(check).unwrap_or_default();
        if let Some(is_same) = self.decoded(round_trips) {
            self.check_roundtrip(&format!("section {}: {}", y.index(), C::ID), is_same);
            self.anomalies(y, &anomalies);
        }
    }

    fn decoded<R>(&mut self, decoded: Result<Option<R>, Error>) -> Option<R> {
        match decoded {
            Ok(found) => found,
            Err(error) if error.newer_component().is_some() => {
                self.newer.push(error);
                None
            }
            Err(error) => {
                self.findings.push(Finding::of_component(self.at, &error));
                None
            }
        }
    }

    fn check_roundtrip(&mut self, id: &str, is_same: bool) {
        if !is_same {
            self.found(
                Class::Roundtrip,
                format!("{id} does not encode to the bytes it was decoded from"),
            );
        }
    }
}
