//! Items of one kind in one slot.

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

/// Where an item that lies on the ground keeps what it is.
const DROPPED: [&str; 2] = ["Item", "Item"];

/// Items of one kind: so many of them, how worn they are, and whatever else their document has.
///
/// Fields that are not known stay, in their places; so does everything that is not set.
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
    /// All of it. The known fields have their types, or are missing if they may.
    fields: Document,
}

impl ItemStack {
    /// Items that do not wear out, with the fields that the game writes.
    pub fn new(id: &str, quantity: i32) -> Self {
        let mut fields = Document::new();
        fields.set(ID_KEY, Value::String(id.to_owned()));
        fields.set(QUANTITY_KEY, Value::Int32(quantity));
        fields.set(DURABILITY_KEY, Value::Double(0.0));
        fields.set(MAX_DURABILITY_KEY, Value::Double(0.0));
        fields.set(ANIMATION_KEY, Value::Boolean(false));
        Self { fields }
    }

    /// Reads the document of a stack.
    ///
    /// # Errors
    /// It is malformed, it lacks `Id` or `Quantity`, or a field has another type than it must.
    pub fn decode(document: RawDocument<'_>) -> Result<Self> {
        field::required(document, ID_KEY, &TEXT)?;
        field::required(document, QUANTITY_KEY, &INT32)?;
        field::optional(document, DURABILITY_KEY, &NUMBER)?;
        field::optional(document, MAX_DURABILITY_KEY, &NUMBER)?;
        field::optional_document(document, METADATA_KEY)?;
        Ok(Self { fields: Document::from_raw(document)? })
    }

    /// Its document.
    pub fn encode(&self) -> Vec<u8> {
        self.fields.to_bytes()
    }

    /// What an entity is that lies on the ground as an item; `None` for any other.
    ///
    /// # Errors
    /// As for [`decode`](Self::decode).
    pub fn of_dropped(entity: &Holder) -> Result<Option<Self>> {
        if !entity.contains(DROPPED[0]) {
            return Ok(None);
        }
        nested::read(entity, &DROPPED, Self::decode).map(Some)
    }

    /// Makes an entity that lies on the ground as an item be this one.
    ///
    /// # Errors
    /// The entity is no item on the ground, or its document is malformed.
    pub fn put_dropped(&self, entity: &mut Holder) -> Result<()> {
        nested::write(entity, &DROPPED, &self.encode())
    }

    /// What the items are.
    pub fn id(&self) -> &str {
        self.fields.get(ID_KEY).and_then(Value::as_str).unwrap_or_default()
    }

    /// Makes them something else, and leaves everything about them as it is.
    pub fn set_id(&mut self, id: &str) {
        self.fields.set(ID_KEY, Value::String(id.to_owned()));
    }

    /// How many there are.
    pub fn quantity(&self) -> i32 {
        match self.fields.get(QUANTITY_KEY) {
            Some(Value::Int32(quantity)) => *quantity,
            _ => 0,
        }
    }

    /// Says how many there are. A slot without items has no stack: the last one is taken away
    /// with [`ItemContainer::remove`](super::ItemContainer::remove).
    pub fn set_quantity(&mut self, quantity: i32) {
        self.fields.set(QUANTITY_KEY, Value::Int32(quantity));
    }

    /// How much wear they have left.
    pub fn durability(&self) -> f64 {
        self.number(DURABILITY_KEY)
    }

    /// Says how much wear they have left.
    pub fn set_durability(&mut self, durability: f64) {
        self.set_number(DURABILITY_KEY, durability);
    }

    /// How much wear they had when they were new; 0 for what does not wear out.
    pub fn max_durability(&self) -> f64 {
        self.number(MAX_DURABILITY_KEY)
    }

    /// Says how much wear they had when they were new.
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
        // What says the same already keeps its type, or stays away.
        if self.number(key).to_bits() != number.to_bits() {
            self.fields.set(key, Value::Double(number));
        }
    }

    /// What a game or a mod has written on them.
    pub fn metadata(&self) -> Option<&Document> {
        self.fields.get(METADATA_KEY).and_then(Value::as_document)
    }

    /// Writes on them, or with `None` wipes it off.
    pub fn set_metadata(&mut self, metadata: Option<Document>) {
        match metadata {
            Some(metadata) => self.fields.set(METADATA_KEY, Value::Document(metadata)),
            None if self.metadata().is_some() => drop(self.fields.remove(METADATA_KEY)),
            None => {}
        }
    }

    /// All fields, those that have no question here included.
    pub fn fields(&self) -> &Document {
        &self.fields
    }
}
