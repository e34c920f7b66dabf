//! [`ItemContainer`]: a container with numbered slots and item stacks.

use std::collections::HashSet;

use super::field::{self, CAPACITY, TEXT};
use super::stack::ItemStack;
use crate::error::Result;
use hyworld_documents::{Document, DocumentWriter, Element, Kind, RawDocument, Value};
use hyworld_documents::{Malformed, Problem};

const KIND_KEY: &str = "Id";
pub(super) const CAPACITY_KEY: &str = "Capacity";
pub(super) const ITEMS_KEY: &str = "Items";

/// The error for a slot that a container does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("slot {slot} is out of range: the container has {capacity} slots, numbered from 0")]
pub struct NoSuchSlot {
    /// The requested slot.
    pub slot: u32,
    /// The number of slots.
    pub capacity: u32,
}

/// The items of a chest, a bench or a part of an inventory.
///
/// Read and written through its [`ContainerPath`](super::ContainerPath). An unchanged container
/// encodes to the same bytes, and after a change only the changed stacks differ. New stacks are
/// appended, because the game reads any order.
///
/// ```
/// use hyworld_chunk::{ItemContainer, ItemStack};
///
/// let mut chest = ItemContainer::new(18);
/// chest.set(4, ItemStack::new("Wood_Beech_Trunk", 7))?;
/// if let Some(wood) = chest.get_mut(4) {
///     wood.set_quantity(6);
/// }
/// let held: Vec<_> = chest.iter().map(|(slot, stack)| (slot, stack.id())).collect();
/// assert_eq!(held, [(4, "Wood_Beech_Trunk")]);
/// assert!(chest.set(18, ItemStack::new("Wood_Beech_Trunk", 1)).is_err());
/// # Ok::<(), hyworld_chunk::NoSuchSlot>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct ItemContainer {
    /// All fields. If `Items` is a document, it is empty here.
    fields: Document,
    /// Slots and stacks in stored order, without duplicate slots.
    stacks: Vec<(u32, ItemStack)>,
}

impl ItemContainer {
    /// Creates an empty container in the form that blocks use. Slots are numbered from 0.
    pub fn new(capacity: u32) -> Self {
        let mut fields = Document::new();
        fields.set(CAPACITY_KEY, Value::Int32(i32::try_from(capacity).unwrap_or(i32::MAX)));
        fields.set(ITEMS_KEY, Value::Document(Document::new()));
        Self { fields, stacks: Vec::new() }
    }

    /// Decodes the document of a container.
    ///
    /// # Errors
    /// Returns an error if the document is malformed, a field has the wrong type, a key of its
    /// items is not a slot number or occurs twice, or a stack is invalid.
    pub fn decode(document: RawDocument<'_>) -> Result<Self> {
        field::optional(document, KIND_KEY, &TEXT)?;
        field::optional(document, CAPACITY_KEY, &CAPACITY)?;
        let items = field::optional_document(document, ITEMS_KEY)?;
        let stacks = items.map_or(Ok(Vec::new()), stacks);
        let stacks = stacks.map_err(|error| error.inside(ITEMS_KEY))?;
        let mut fields = Document::from_raw(document)?;
        if let Some(Value::Document(items)) = fields.get_mut(ITEMS_KEY) {
            *items = Document::new();
        }
        Ok(Self { fields, stacks })
    }

    /// Encodes its document.
    pub fn encode(&self) -> Vec<u8> {
        let mut items = DocumentWriter::new();
        for (slot, stack) in &self.stacks {
            items.document(&slot.to_string(), &stack.encode());
        }
        let items = items.finish();
        let fields = self.fields.to_bytes();
        let mut writer = DocumentWriter::new();
        let mut is_written = false;
        // Cannot fail: the document was just encoded.
        for element in
            RawDocument::new(&fields).into_iter().flat_map(RawDocument::elements).flatten()
        {
            let is_replaced = element.kind() == Kind::DOCUMENT || !self.stacks.is_empty();
            if element.key() == ITEMS_KEY && is_replaced && !is_written {
                writer.document(ITEMS_KEY, &items);
                is_written = true;
            } else {
                writer.element(&element);
            }
        }
        if !is_written && !self.stacks.is_empty() {
            writer.document(ITEMS_KEY, &items);
        }
        writer.finish()
    }

    /// Returns the kind of an inventory's container: `Simple`, or `Empty` if it has no slots.
    /// Containers of blocks have no kind.
    pub fn kind(&self) -> Option<&str> {
        self.fields.get(KIND_KEY).and_then(Value::as_str)
    }

    /// Returns the number of slots; 0 if the field is missing.
    pub fn capacity(&self) -> u32 {
        match self.fields.get(CAPACITY_KEY) {
            Some(Value::Int32(capacity)) => u32::try_from(*capacity).unwrap_or(0),
            _ => 0,
        }
    }

    /// Returns the number of slots with a stack.
    pub fn len(&self) -> usize {
        self.stacks.len()
    }

    /// Returns whether no slot has a stack.
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// Returns the slots with their stacks, sorted by number. Includes slots beyond the capacity.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, &ItemStack)> {
        let mut stacks: Vec<_> = self.stacks.iter().map(|(slot, stack)| (*slot, stack)).collect();
        stacks.sort_unstable_by_key(|(slot, _)| *slot);
        stacks.into_iter()
    }

    /// Returns the stack in a slot.
    pub fn get(&self, slot: u32) -> Option<&ItemStack> {
        self.stacks.iter().find(|(number, _)| *number == slot).map(|(_, stack)| stack)
    }

    /// Returns the stack in a slot for mutation.
    pub fn get_mut(&mut self, slot: u32) -> Option<&mut ItemStack> {
        self.stacks.iter_mut().find(|(number, _)| *number == slot).map(|(_, stack)| stack)
    }

    /// Sets the stack in a slot and returns the previous one.
    ///
    /// # Errors
    /// Returns an error if the container has no such slot.
    pub fn set(&mut self, slot: u32, stack: ItemStack) -> Result<Option<ItemStack>, NoSuchSlot> {
        if let Some(existing) = self.get_mut(slot) {
            return Ok(Some(std::mem::replace(existing, stack)));
        }
        let capacity = self.capacity();
        if slot >= capacity {
            return Err(NoSuchSlot { slot, capacity });
        }
        self.stacks.push((slot, stack));
        Ok(None)
    }

    /// Empties a slot and returns its stack.
    pub fn remove(&mut self, slot: u32) -> Option<ItemStack> {
        let index = self.stacks.iter().position(|(number, _)| *number == slot)?;
        Some(self.stacks.remove(index).1)
    }
}

fn stacks(items: RawDocument<'_>) -> Result<Vec<(u32, ItemStack)>> {
    let mut stacks = Vec::new();
    let mut slots = HashSet::new();
    for element in items.elements() {
        let element = element?;
        let stack = slot(&element, &mut slots)
            .and_then(|slot| Ok((slot, ItemStack::decode(field::as_document(&element)?)?)));
        stacks.push(stack.map_err(|error| error.inside(element.key()))?);
    }
    Ok(stacks)
}

/// Parses a key as a slot: a decimal number without a sign or leading zeros.
fn slot(element: &Element<'_>, seen: &mut HashSet<u32>) -> Result<u32> {
    let slot = element.key().parse().ok().filter(|slot: &u32| slot.to_string() == element.key());
    let what = "a slot number as key".to_owned();
    let slot =
        slot.ok_or(Malformed { at: element.value_at(), problem: Problem::Missing { what } })?;
    if seen.insert(slot) {
        return Ok(slot);
    }
    Err(field::wrong_value(element, "the number of stacks in this slot", 2, "1"))
}
