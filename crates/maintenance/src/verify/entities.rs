//! Entities that are stored twice.

use std::hash::{DefaultHasher, Hasher};

use hyworld_chunk::Entity;
use hyworld_coords::ChunkPos;

use crate::finding::{Class, Finding};

/// The identity of an entity with a UUID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct EntityRecord {
    uuid: [u8; 16],
    /// A digest of its whole document.
    digest: u64,
}

impl EntityRecord {
    /// Returns `None` for an entity without a UUID.
    pub(super) fn of(entity: Entity<'_>) -> Option<Self> {
        let mut digest = DefaultHasher::new();
        digest.write(&entity.0.encode());
        Some(Self { uuid: entity.uuid()?, digest: digest.finish() })
    }

    /// Returns whether the UUID is random, so that no two entities have the same by chance. The
    /// game also derives UUIDs from names; many entities of healthy worlds share such a UUID.
    fn is_random(self) -> bool {
        let [_, _, _, _, _, _, version, ..] = self.uuid;
        version >> 4 == 4
    }
}

/// All entities of a storage, 40 bytes each.
#[derive(Default)]
pub(super) struct Entities(Vec<(EntityRecord, ChunkPos)>);

impl Entities {
    pub(super) fn add(&mut self, at: ChunkPos, records: Vec<EntityRecord>) {
        self.0.extend(records.into_iter().map(|record| (record, at)));
    }

    /// Returns a finding for each entity that is stored twice, and one for all that share a UUID.
    pub(super) fn finish(mut self) -> Vec<Finding> {
        self.0.sort_unstable();
        let (mut findings, mut sharing) = (Vec::new(), 0_usize);
        let mut uuids = 0_usize;
        for group in self.0.chunk_by(|(one, _), (other, _)| one.uuid == other.uuid) {
            let mut copies = 0_usize;
            for pair in group.windows(2) {
                let [(first, at), (second, other)] = pair else { continue };
                if first == second || first.is_random() {
                    findings.push(duplicate(*at, *other));
                    copies = copies.saturating_add(1);
                }
            }
            if group.len() > 1 && copies == 0 {
                sharing = sharing.saturating_add(group.len());
                uuids = uuids.saturating_add(1);
            }
        }
        if sharing > 0 {
            let message = format!("{sharing} different entities share {uuids} UUIDs");
            findings.push(Finding::new(Class::SharedUuid, message));
        }
        findings
    }
}

/// Creates the finding for the later of two chunks with the same entity.
fn duplicate(at: ChunkPos, other: ChunkPos) -> Finding {
    let message = if at == other {
        "an entity is stored twice in this chunk".to_owned()
    } else {
        format!("an entity of this chunk is also stored in chunk {},{}", at.x, at.z)
    };
    Finding::at(Class::Duplicate, other, message)
}
