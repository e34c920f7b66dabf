//! The checks of one chunk.

use std::fmt;

use hyworld_chunk::bson::{Element, RawDocument};
use hyworld_chunk::{
    BlockChunk, BlockComponentChunk, BlockComponentSection, BlockHealthChunk, BlockPhysics,
    BlockRef, BlockSection, Chunk, ChunkSection, ChunkSpawnedNpcData, ColumnAnomaly, Component,
    Entity, EntityChunk, EntityLayout, EntitySection, EnvironmentChunk, Error, FluidSection,
    Holder, PlainChunk, SectionAnomaly, WorldChunk,
};
use hyworld_coords::{BlockPos, ChunkBlock, ChunkPos, SectionY};

use super::Checked;
use super::entities::EntityRecord;
use super::fillers::Fillers;
use crate::finding::{Class, Finding, Severity};

/// The components that the game needs to load a chunk.
const NEEDED: [&str; 5] = [
    WorldChunk::ID,
    BlockChunk::ID,
    EnvironmentChunk::ID,
    EntityChunk::ID,
    BlockComponentChunk::ID,
];

/// The components of a section that the game always writes, and creates if they are missing.
const USUAL_IN_SECTION: [&str; 3] = [ChunkSection::ID, BlockSection::ID, FluidSection::ID];

/// Sections of this version and later have all of [`USUAL_IN_SECTION`].
const COMPLETE_SECTIONS_VERSION: i32 = 5;

/// The component with the sections.
const COLUMN_ID: &str = "ChunkColumn";

/// The number of sections of a chunk.
const SECTIONS: usize = 10;

pub(super) struct Checks<'a> {
    at: ChunkPos,
    chunk: &'a Chunk,
    /// Components that a newer game wrote; only one is reported.
    newer: Vec<Error>,
    stale_lights: usize,
    checked: &'a mut Checked,
}

impl Checks<'_> {
    /// Runs all checks on a chunk; for a plain chunk only those that [`PlainChunk`] does not cover.
    /// Returns a buffer for reuse, if possible that of the document.
    pub(super) fn run(
        at: ChunkPos,
        document: Vec<u8>,
        plain: Option<PlainChunk>,
        fillers: &Fillers,
        checked: &mut Checked,
    ) -> Vec<u8> {
        if let Some(plain) = plain {
            checked.layout = Some(EntityLayout::Chunk);
            checked.findings.extend(stale(at, plain.stale_lights));
            let has_contents = plain.has_entities || plain.has_block_entities;
            if !has_contents && plain.filler_sections == 0 && !fillers.needs(at) {
                return document;
            }
        } else if let Err(malformed) = RawDocument::new(&document).and_then(RawDocument::check) {
            checked.findings.push(Finding::at(Class::Document, at, malformed));
            return document;
        }
        let chunk = match Chunk::decode(document) {
            Ok(chunk) => chunk,
            Err(error) => {
                checked.findings.push(Finding::at(Class::Document, at, error));
                return Vec::new();
            }
        };
        let mut checks = Checks { at, chunk: &chunk, newer: Vec::new(), stale_lights: 0, checked };
        match plain {
            Some(plain) => checks.contents(plain),
            None => checks.everything(),
        }
        fillers.add(at, &chunk, plain.map(|plain| plain.filler_sections));
        chunk.into_buffer()
    }

    /// Checks the entities and block entities of a plain chunk.
    fn contents(&mut self, plain: PlainChunk) {
        if plain.has_block_entities {
            self.component::<BlockComponentChunk>();
            self.block_entities();
        }
        if plain.has_entities {
            self.component::<EntityChunk>();
            self.entities();
        }
    }

    fn everything(&mut self) {
        self.checked.oldest = self.oldest_section();
        self.shape();
        self.components();
        for y in SectionY::all() {
            self.section(y);
        }
        self.checked.findings.extend(stale(self.at, self.stale_lights));
        let anomalies = self.chunk.check_columns();
        self.column_anomalies(&anomalies);
        self.block_entities();
        self.entities();
        if let Some(newer) = Error::one_newer(&self.newer) {
            self.checked.findings.push(Finding::of_component(self.at, newer));
        }
        self.checked.layout = Some(self.chunk.entity_layout());
    }

    fn found(&mut self, class: Class, message: impl fmt::Display) {
        self.checked.findings.push(Finding::at(class, self.at, message));
    }

    /// Checks the fields beside the components, repeated components, and the number of sections.
    fn shape(&mut self) {
        let mut anomalies = odd_fields("the chunk", self.chunk.holder());
        for (number, section) in self.chunk.section_holders().iter().enumerate() {
            anomalies.extend(odd_fields(&format!("section {number}"), section));
        }
        for anomaly in anomalies {
            self.found(Class::Anomaly, anomaly);
        }
        let sections = self.chunk.section_holders().len();
        let has_column = self.chunk.holder().contains(COLUMN_ID);
        if has_column && sections != SECTIONS {
            self.found(Class::Missing, format!("{sections} sections instead of {SECTIONS}"));
        }
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
        let mut anomalies = self.of::<BlockChunk>(BlockChunk::check);
        anomalies.extend(self.of::<EnvironmentChunk>(EnvironmentChunk::check));
        let at = self.at;
        anomalies.extend(self.of::<BlockHealthChunk>(|health| health.check(at)));
        self.column_anomalies(&anomalies);
    }

    /// Calls `check` with a component, if it can be decoded.
    fn of<C: Component>(&self, check: impl FnOnce(&C) -> Vec<ColumnAnomaly>) -> Vec<ColumnAnomaly> {
        self.chunk.get::<C>().ok().flatten().map(check).unwrap_or_default()
    }

    fn column_anomalies(&mut self, anomalies: &[ColumnAnomaly]) {
        let is_old = self.is_from_old_game();
        let is_usual = |anomaly: &ColumnAnomaly| {
            is_old && matches!(anomaly, ColumnAnomaly::TransparentTints { .. })
        };
        for anomaly in anomalies.iter().filter(|anomaly| !is_usual(anomaly)) {
            self.found(Class::Anomaly, anomaly);
        }
    }

    /// Checks that each entity is in the chunk that stores it: the game loads it with that chunk.
    fn entities(&mut self) {
        let at = self.at;
        let outside = |position: &[f64; 3]| {
            let [x, _, z] = *position;
            BlockPos::from_f64(x, 0.0, z).is_none_or(|block| block.chunk() != at)
        };
        let entities = || self.chunk.entities().into_iter().flatten();
        let records: Vec<_> = entities().filter_map(EntityRecord::of).collect();
        let mut outside = entities().filter_map(Entity::position).filter(outside);
        let misplaced = outside.next().map(|[x, _, z]| {
            let more = and_more(outside.count());
            format!("an entity is at x {x:.1}, z {z:.1}, outside of this chunk{more}")
        });
        self.checked.entities = records;
        if let Some(message) = misplaced {
            self.found(Class::Misplaced, message);
        }
    }

    /// Checks the keys of block entities, and the positions and blocks that belong to them.
    fn block_entities(&mut self) {
        let Ok(found) = self.chunk.block_entities() else { return };
        let found: Vec<_> = found.collect();
        let count = self.chunk.block_entity_count().unwrap_or(found.len());
        let invalid = count.saturating_sub(found.len());
        if invalid > 0 {
            self.invalid_keys(invalid);
        }
        let mut wrong = found.iter().filter_map(|(at, holder)| stated_position(holder, *at));
        if let Some(first) = wrong.next() {
            let message = format!("{first}{}", and_more(wrong.count()));
            self.found(Class::Position, message);
        }
        let is_in_air =
            |(at, _): &&(ChunkBlock, _)| self.chunk.block(*at).is_ok_and(BlockRef::is_air);
        let mut in_air = found.iter().filter(is_in_air);
        if let Some((at, _)) = in_air.next() {
            let (at, more) = (cell_text(*at), and_more(in_air.count()));
            self.found(Class::Anomaly, format!("a block entity is in air, at {at}{more}"));
        }
        let mut empty = found.iter().filter(|(_, holder)| holder.ids().next().is_none());
        if let Some((at, _)) = empty.next() {
            let (at, more) = (cell_text(*at), and_more(empty.count()));
            let what = "a block entity without components is dropped by the game";
            self.found(Class::Anomaly, format!("{what}, at {at}{more}"));
        }
    }

    /// Reports keys that are not the index of a block. The game reads any number, and fails to load
    /// the chunk if a key is not a number.
    fn invalid_keys(&mut self, count: usize) {
        let list = self.chunk.get::<BlockComponentChunk>().ok().flatten();
        let mut keys = list.into_iter().flat_map(BlockComponentChunk::keys);
        let is_refused = keys.any(|key| key.parse::<i32>().is_err());
        let severity = if is_refused { Severity::Error } else { Severity::Warning };
        let message = match count {
            1 => "the key of a block entity is not the index of a block".to_owned(),
            count => format!("the keys of {count} block entities are not indices of blocks"),
        };
        let finding = Finding { severity, ..Finding::at(Class::Key, self.at, message) };
        self.checked.findings.push(finding);
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
        self.usual_components(y);
        self.component_in::<BlockSection>(y, BlockSection::check);
        self.component_in::<FluidSection>(y, FluidSection::check);
        self.component_in::<BlockPhysics>(y, |_| Vec::new());
        self.component_in::<EntitySection>(y, |_| Vec::new());
        self.component_in::<BlockComponentSection>(y, |_| Vec::new());
    }

    /// Returns whether a game wrote the chunk that did not store `ChunkSection`, `Fluid` and opaque
    /// tints everywhere.
    fn is_from_old_game(&self) -> bool {
        self.checked.oldest.is_some_and(|version| version < COMPLETE_SECTIONS_VERSION)
    }

    /// Returns the lowest version of the sections that can be decoded, if it is an old one.
    fn oldest_section(&self) -> Option<i32> {
        let section = |y| self.chunk.get_in::<BlockSection>(y).ok().flatten();
        let versions = SectionY::all().filter_map(section).map(BlockSection::version);
        versions.min().filter(|version| *version < BlockSection::VERSION)
    }

    /// Reports the components that a section lacks. Old chunks store their blocks elsewhere, or
    /// have sections without the other components.
    fn usual_components(&mut self, y: SectionY) {
        let columns = self.chunk.get::<BlockChunk>().ok().flatten();
        let is_current = columns.is_some_and(|columns| columns.version() == BlockChunk::VERSION);
        let is_complete = is_current && !self.is_from_old_game();
        let Some(holder) = self.chunk.section_holder(y).filter(|_| is_complete) else { return };
        for id in USUAL_IN_SECTION.into_iter().filter(|id| !holder.contains(id)) {
            let message = format!("section {} has no component {id}", y.index());
            self.checked.findings.push(Finding::at(Class::Anomaly, self.at, message));
        }
    }

    fn anomalies(&mut self, y: SectionY, anomalies: &[SectionAnomaly]) {
        for anomaly in anomalies {
            if anomaly.is_natural() {
                self.stale_lights = self.stale_lights.saturating_add(1);
                continue;
            }
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
                self.checked.findings.push(Finding::of_component(self.at, &error));
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

/// Returns a finding if lights were computed before the last change of a block.
fn stale(at: ChunkPos, lights: usize) -> Option<Finding> {
    let message = match lights {
        0 => return None,
        1 => "a light is older than the blocks".to_owned(),
        lights => format!("{lights} lights are older than the blocks"),
    };
    Some(Finding::at(Class::StaleLight, at, message))
}

/// Describes the fields of a holder beside its components, and components that it has twice.
fn odd_fields(name: &str, holder: &Holder) -> Vec<String> {
    let others = holder.other_fields();
    let mut found: Vec<String> =
        others.map(|(key, ..)| format!("{name} has a field {key} beside its components")).collect();
    let mut ids: Vec<&str> = holder.ids().collect();
    ids.sort_unstable();
    for pair in ids.windows(2) {
        if let [first, second] = pair
            && first == second
        {
            found.push(format!("{name} has the component {first} twice"));
        }
    }
    found
}

/// Returns a message if a block entity states a position other than that of its block. Only old
/// components state one: x and z in the chunk, and the height.
fn stated_position(holder: &Holder, block: ChunkBlock) -> Option<String> {
    let expected: [i32; 3] = [block.x().into(), block.y().into(), block.z().into()];
    let mut stated = holder.entries().filter_map(|(_, _, bytes)| {
        let position = RawDocument::new(bytes).ok()?.get("Position").ok()??.as_document()?;
        let number = |key| position.get(key).ok()?.as_ref().and_then(Element::as_i32);
        Some([number("X")?, number("Y")?, number("Z")?])
    });
    let [x, y, z] = stated.find(|stated| *stated != expected)?;
    Some(format!("the block entity at {} names the position {x},{y},{z}", cell_text(block)))
}

fn cell_text(at: ChunkBlock) -> String {
    format!("{},{},{} of the chunk", at.x(), at.y(), at.z())
}

/// Returns the end of a message that describes only the first of several cases.
fn and_more(others: usize) -> String {
    match others {
        0 => String::new(),
        others => format!(", and {others} more"),
    }
}
