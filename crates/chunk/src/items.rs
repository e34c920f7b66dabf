//! Items: what lies in chests and benches and what creatures and players carry, of both
//! generations of the format, through one view.
//!
//! A container is the same document everywhere; what changed from January to June 2026 is where
//! it stands. So a [`ContainerPath`] says where in a holder a container stands and what it is
//! for, and reads and writes it as an [`ItemContainer`] of [`ItemStack`]s. The layouts are in
//! `docs/format/chunk.md`.

mod container;
mod container_path;
mod field;
mod nested;
mod stack;

pub use container::{ItemContainer, NoSuchSlot};
pub use container_path::{ContainerPath, ContainerRole};
pub use stack::ItemStack;
