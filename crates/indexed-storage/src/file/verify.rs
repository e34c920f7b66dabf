//! Reading everything in order to know that it can be read.

use super::IndexedStorageFile;
use crate::damage::Damage;
use crate::error::{Error, Result};
use crate::layout::Slot;
use crate::seal::Seal;

/// What a full check of one slot found.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Verified {
    /// The index names no blob.
    Absent,
    /// The blob is whole.
    Whole {
        /// Its seal, if it has one; every field of it was checked.
        seal: Option<Seal>,
    },
    /// Something is wrong, see [`Damage::is_readable`].
    Damaged(Damage),
}

impl IndexedStorageFile {
    /// Checks one slot in full: place, lengths, frames, seal with the hash of the document.
    ///
    /// # Errors
    /// [`Error::NoSuchSlot`], or what the operating system reports. Damage is a result.
    pub fn verify(&self, slot: Slot) -> Result<Verified> {
        let checked = self.read_encoded(slot).and_then(|blob| match blob {
            None => Ok(Verified::Absent),
            Some(blob) => {
                let seal = blob.check_whole().map_err(|damage| self.damaged(slot, damage))?;
                if let Some(seal) = &seal {
                    let placed = seal.check_place(slot, blob.header().raw_bytes);
                    placed.map_err(|damage| self.damaged(slot, damage.into()))?;
                }
                Ok(Verified::Whole { seal })
            }
        });
        match checked {
            Err(Error::Damaged { damage, .. }) => Ok(Verified::Damaged(damage)),
            Ok(Verified::Whole { .. }) => match self.slot_damage(slot)? {
                Some(found) => Ok(Verified::Damaged(found.damage)),
                None => checked,
            },
            other => other,
        }
    }
}
