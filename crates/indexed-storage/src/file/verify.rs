//! Verifies slots by decoding their blobs.

use super::IndexedStorageFile;
use crate::damage::Damage;
use crate::error::{Error, Result};
use crate::layout::Slot;
use crate::seal::Seal;

/// The result of a full check of one slot.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Verified {
    /// The slot is empty.
    Empty,
    /// The blob is intact.
    Intact {
        /// The seal, if there is one; all its fields were checked.
        seal: Option<Seal>,
    },
    /// The blob is damaged; see [`Damage::is_readable`].
    Damaged(Damage),
}

impl IndexedStorageFile {
    /// Checks one slot completely: position, lengths, frames, and the seal including the hash of
    /// the document.
    ///
    /// # Errors
    /// Returns [`Error::NoSuchSlot`] or an I/O error. Damage is returned as a result.
    pub fn verify(&self, slot: Slot) -> Result<Verified> {
        let checked = self.read_encoded(slot).and_then(|blob| match blob {
            None => Ok(Verified::Empty),
            Some(blob) => {
                let seal = blob.check_intact().map_err(|damage| self.damaged(slot, damage))?;
                if let Some(seal) = &seal {
                    let checked = seal.check_slot(slot, blob.header().raw_bytes);
                    checked.map_err(|damage| self.damaged(slot, damage.into()))?;
                }
                Ok(Verified::Intact { seal })
            }
        });
        match checked {
            Err(Error::Damaged { damage, .. }) => Ok(Verified::Damaged(damage)),
            Ok(Verified::Intact { .. }) => match self.slot_damage(slot)? {
                Some(found) => Ok(Verified::Damaged(found.damage)),
                None => checked,
            },
            other => other,
        }
    }
}
