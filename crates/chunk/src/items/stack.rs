//! [`ItemStack`]: items of one kind in one slot.

use super::field::{self, INT32, NUMBER, TEXT};
use super::nested;
use crate::error::Result;
use crate::holder::Holder;
use hyworld_documents::{Document, RawDocument, Value};

const ID_KEY: &str = "Id";
const QUANTITY_KEY: &str = "Quantity";
const DURABILITY_KEY: &str = "Durability";
const MAX_DURABILITY_KEY: &str = "MaxDurability";
const ANIMATION_KEY: &str = "OverrideDroppedItemAnimation";
const METADATA_KEY: &str = "Metadata";

/// The path of the stack in an item entity that lies on the ground.
const DROPPED: [&str; 2] = ["Item", "Item"];

/// Items of one kind: their id, quantity, durability, and all other fields of their document.
///
/// Unknown fields are kept in their positions, and so is everything that is not set.
///
/// ```
/// use hyworld_chunk::ItemStack;
///
/// let mut arrows = ItemStack::new("Weapon_Arrow_Crude", 8);
/// arrows.set_quantity(arrows.quantity() + 12);
/// assert_eq!((arrows.id(), arrows.quantity()), ("Weapon_Arrow_Crude", 20));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct ItemStack {
    /// All fields. Known fields have the right type, or are missing if they are optional.
    fields: Document,
}

impl ItemStack {
    /// Creates a stack without durability, with the fields that the game writes.
    pub fn new(id: &str, quantity: i32) -> Self {
        let mut fields = Document::new();
        fields.set(ID_KEY, Value::String(id.to_owned()));
        fields.set(QUANTITY_KEY, Value::Int32(quantity));
        fields.set(DURABILITY_KEY, Value::Double(0.0));
        fields.set(MAX_DURABILITY_KEY, Value::Double(0.0));
        fields.set(ANIMATION_KEY, Value::Boolean(false));
        Self { fields }
    }

    /// Decodes the document of a stack.
    ///
    /// # Errors
    /// Returns an error if it is malformed, lacks `Id` or `Quantity`, or has a wrong type.
    pub fn decode(document: RawDocument<'_>) -> Result<Self> {
        field::required(document, ID_KEY, &TEXT)?;
        field::required(document, QUANTITY_KEY, &INT32)?;
        field::optional(document, DURABILITY_KEY, &NUMBER)?;
        field::optional(document, MAX_DURABILITY_KEY, &NUMBER)?;
        field::optional_document(document, METADATA_KEY)?;
        Ok(Self { fields: Document::from_raw(document)? })
    }

    /// Encodes its document.
    pub fn encode(&self) -> Vec<u8> {
        self.fields.to_bytes()
    }

    /// Reads the stack of an item entity on the ground. Returns `None` for any other entity.
    ///
    /// # Errors
    /// Same as [`decode`](Self::decode).
    pub fn of_dropped(entity: &Holder) -> Result<Option<Self>> {
        if !entity.contains(DROPPED[0]) {
            return Ok(None);
        }
        nested::read(entity, &DROPPED, Self::decode).map(Some)
    }

    /// Replaces the stack of an item entity on the ground.
    ///
    /// # Errors
    /// Returns an error if the entity is not an item on the ground, or its document is malformed.
    pub fn put_dropped(&self, entity: &mut Holder) -> Result<()> {
        nested::write(entity, &DROPPED, &self.encode())
    }

    /// Returns the item id.
    pub fn id(&self) -> &str {
        self.fields.get(ID_KEY).and_then(Value::as_str).unwrap_or_default()
    }

    /// Sets the item id. All other fields stay as they are.
    pub fn set_id(&mut self, id: &str) {
        self.fields.set(ID_KEY, Value::String(id.to_owned()));
    }

    /// Returns the number of items.
    pub fn quantity(&self) -> i32 {
        match self.fields.get(QUANTITY_KEY) {
            Some(Value::Int32(quantity)) => *quantity,
            _ => 0,
        }
    }

    /// Sets the number of items. A slot without items has no stack: to remove the last item, use
    /// [`ItemContainer::remove`](super::ItemContainer::remove).
    pub fn set_quantity(&mut self, quantity: i32) {
        self.fields.set(QUANTITY_KEY, Value::Int32(quantity));
    }

    /// Returns the remaining durability.
    pub fn durability(&self) -> f64 {
        self.number(DURABILITY_KEY)
    }

    /// Sets the remaining durability.
    pub fn set_durability(&mut self, durability: f64) {
        self.set_number(DURABILITY_KEY, durability);
    }

    /// Returns the maximum durability; 0 for items without wear.
    pub fn max_durability(&self) -> f64 {
        self.number(MAX_DURABILITY_KEY)
    }

    /// Sets the maximum durability.
    pub fn set_max_durability(&mut self, durability: f64) {
        self.set_number(MAX_DURABILITY_KEY, durability);
    }

    fn number(&self, key: &str) -> f64 {
        match self.fields.get(key) {
            Some(Value::Double(number)) => *number,
            Some(Value::Int32(number)) => (*number).into(),
            _ => 0.0,
        }
    }

    fn set_number(&mut self, key: &str, number: f64) {
        // An equal number keeps its type, and a missing field stays missing.
        if self.number(key).to_bits() != number.to_bits() {
            self.fields.set(key, Value::Double(number));
        }
    }

    /// Returns the metadata of the game or a mod.
    pub fn metadata(&self) -> Option<&Document> {
        self.fields.get(METADATA_KEY).and_then(Value::as_document)
    }

    /// Sets the metadata, or removes it with `None`.
    pub fn set_metadata(&mut self, metadata: Option<Document>) {
        match metadata {
            Some(metadata) => self.fields.set(METADATA_KEY, Value::Document(metadata)),
            None if self.metadata().is_some() => drop(self.fields.remove(METADATA_KEY)),
            None => {}
        }
    }

    /// Returns all fields, including those without a getter.
    pub fn fields(&self) -> &Document {
        &self.fields
    }
}
