//! Checks of one chunk. Deeper ones join them here, each a function of its own.

use hyworld_chunk::bson::RawDocument;
use hyworld_chunk::{
    BlockChunk, BlockComponentChunk, BlockHealthChunk, BlockPhysics, BlockSection, Chunk,
    ChunkSpawnedNpcData, Component, EntityChunk, EnvironmentChunk, Error, FluidSection, WorldChunk,
};
use hyworld_coords::{ChunkPos, SectionY};

use crate::finding::{Class, Finding};

/// What the game needs to load a chunk; the sections it makes itself if they are missing.
const NEEDED: [&str; 5] = [
    WorldChunk::ID,
    BlockChunk::ID,
    EnvironmentChunk::ID,
    EntityChunk::ID,
    BlockComponentChunk::ID,
];

/// Checks a chunk in every way.
pub(super) fn check(at: ChunkPos, document: Vec<u8>, findings: &mut Vec<Finding>) {
    let whole = RawDocument::new(&document).and_then(RawDocument::check);
    if let Err(malformed) = whole {
        findings.push(Finding::new(Class::Document, at, malformed));
        return;
    }
    let chunk = match Chunk::decode(document) {
        Ok(chunk) => chunk,
        Err(error) => {
            findings.push(Finding::new(Class::Document, at, error));
            return;
        }
    };
    let mut checks = Checks { at, chunk, findings };
    checks.components();
    for y in SectionY::all() {
        checks.section(y);
    }
}

struct Checks<'a> {
    at: ChunkPos,
    chunk: Chunk,
    findings: &'a mut Vec<Finding>,
}

impl Checks<'_> {
    fn found(&mut self, class: Class, message: impl std::fmt::Display) {
        self.findings.push(Finding::new(class, self.at, message));
    }

    fn components(&mut self) {
        for id in NEEDED {
            if !self.chunk.holder().contains(id) {
                self.found(Class::Missing, format!("the component {id} is missing"));
            }
        }
        self.component::<BlockChunk>();
        self.component::<EnvironmentChunk>();
        self.component::<BlockHealthChunk>();
        self.component::<BlockComponentChunk>();
        self.component::<EntityChunk>();
        self.component::<ChunkSpawnedNpcData>();
    }

    fn section(&mut self, y: SectionY) {
        if let Some(block) = self.component_in::<BlockSection>(y) {
            self.anomalies(y, &block.check());
        }
        if let Some(fluid) = self.component_in::<FluidSection>(y) {
            self.anomalies(y, &fluid.check());
        }
        self.component_in::<BlockPhysics>(y);
    }

    fn anomalies(&mut self, y: SectionY, anomalies: &[impl std::fmt::Display]) {
        for anomaly in anomalies {
            self.found(Class::Anomaly, format!("section {}: {anomaly}", y.index()));
        }
    }

    /// Decodes a component of the chunk, and sees that it comes back as it was.
    fn component<C: Component>(&mut self) {
        let decoded = self.chunk.get::<C>();
        let Some(component) = self.decoded(decoded) else { return };
        let mut copy = self.chunk.holder().clone();
        let put = copy.put(&component);
        self.came_back(C::ID, put.is_ok() && !copy.is_changed());
    }

    fn component_in<C: Component>(&mut self, y: SectionY) -> Option<C> {
        let decoded = self.chunk.get_in::<C>(y);
        let component = self.decoded(decoded)?;
        let mut holder = self.chunk.section(y).cloned().unwrap_or_default();
        let put = holder.put(&component);
        let id = format!("section {}: {}", y.index(), C::ID);
        self.came_back(&id, put.is_ok() && !holder.is_changed());
        Some(component)
    }

    fn decoded<C>(&mut self, decoded: Result<Option<C>, Error>) -> Option<C> {
        match decoded {
            Ok(component) => component,
            Err(error @ Error::Newer { .. }) => {
                self.found(Class::Newer, error);
                None
            }
            Err(error) => {
                self.found(Class::Component, error);
                None
            }
        }
    }

    fn came_back(&mut self, id: &str, is_same: bool) {
        if !is_same {
            self.found(Class::Roundtrip, format!("{id} does not come back as it was read"));
        }
    }
}
