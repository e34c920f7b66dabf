//! Items in chests, benches and inventories, in both generations of the format.
//!
//! A container is the same document everywhere; only its path changed between January and June
//! 2026. A [`ContainerPath`] is the path and purpose of a container in a holder. It reads and
//! writes the container as an [`ItemContainer`] of [`ItemStack`]s. The layouts are in
//! `docs/format/chunk.md`.

mod container;
mod container_path;
mod field;
mod nested;
mod seen_keys;
mod stack;

pub use container::{ItemContainer, NoSuchSlot};
pub use container_path::{ContainerPath, ContainerRole};
pub use stack::ItemStack;
