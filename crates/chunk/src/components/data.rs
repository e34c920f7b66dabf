//! Components that consist of one binary field, `Data`.

use crate::block_chunk::BlockChunk;
use crate::block_health::BlockHealthChunk;
use crate::block_section::BlockSection;
use crate::component::{Component, DATA_KEY, Stored};
use crate::environment::EnvironmentChunk;
use crate::error::Result;
use crate::fields::Fields;
use crate::fluid::FluidSection;
use crate::physics::BlockPhysics;
use crate::shared_bytes::BorrowedBytes;
use crate::wire::Reader;
use hyworld_documents::{Element, RawDocument};
use hyworld_documents::{Malformed, Problem};

/// Checks that an element is the binary field of a component.
fn binary(found: Option<Element<'_>>) -> Result<Element<'_>> {
    let missing = || Malformed {
        at: found.map_or(0, |data| data.value_at()),
        problem: Problem::Missing { what: "the binary field Data".to_owned() },
    };
    let is_binary = |data: &Element<'_>| data.as_binary().is_some();
    Ok(found.filter(is_binary).ok_or_else(missing)?)
}

/// Returns the bytes of a component's binary field.
pub(crate) fn data(document: RawDocument<'_>) -> Result<&[u8]> {
    Ok(binary(document.get(DATA_KEY)?)?.as_binary().unwrap_or_default().1)
}

/// Returns the binary field as a shared range of the component's bytes.
fn shared_data<'a>(stored: &Stored<'a>) -> Result<BorrowedBytes<'a>> {
    /// The length and the subtype.
    const HEAD_BYTES: usize = 5;
    let data = binary(stored.data)?;
    let len = data.value().len().saturating_sub(HEAD_BYTES);
    Ok(stored.bytes.part(data.value_at().saturating_add(HEAD_BYTES), len))
}

/// Implements `Component` for a type without a `Version` field in its document. With `same_cells`,
/// a changed value whose cells equal the original ones is written as it was stored.
macro_rules! data_component {
    ($component:ty, $id:literal $(, $same_cells:ident)?) => {
        impl Component for $component {
            const ID: &'static str = $id;

            fn decode(document: RawDocument<'_>, _version: i32) -> Result<Self> {
                Self::decode(data(document)?).map_err(|error| error.inside(DATA_KEY))
            }

            fn decode_shared(stored: &Stored<'_>) -> Result<Self> {
                let data = shared_data(stored)?;
                Self::read(Reader::shared(data)).map_err(|error| error.inside(DATA_KEY))
            }

            fn encode(&self, fields: &mut Fields<'_>) {
                fields.binary_with(DATA_KEY, |out| self.encode_into(out));
            }

            $(fn encode_changed(&self, original: &Self, fields: &mut Fields<'_>) {
                let is_same = self.$same_cells(original);
                let value = if is_same { original } else { self };
                Component::encode(value, fields);
            })?
        }
    };
}

/// Implements `Component` for a type with a `Version` field beside `Data`.
macro_rules! versioned_data_component {
    ($component:ty, $id:literal) => {
        impl Component for $component {
            const ID: &'static str = $id;
            const VERSION: i32 = Self::VERSION;

            fn decode(document: RawDocument<'_>, version: i32) -> Result<Self> {
                Self::decode(version, data(document)?).map_err(|error| error.inside(DATA_KEY))
            }

            fn decode_shared(stored: &Stored<'_>) -> Result<Self> {
                let data = shared_data(stored)?;
                let section = Self::read_field(stored.version, Reader::shared(data));
                section.map_err(|error| error.inside(DATA_KEY))
            }

            fn version(&self) -> i32 {
                self.version()
            }

            fn encode(&self, fields: &mut Fields<'_>) {
                fields.binary_with(DATA_KEY, |out| self.encode_into(out));
            }

            fn encode_changed(&self, original: &Self, fields: &mut Fields<'_>) {
                fields.binary_with(DATA_KEY, |out| self.encode_changed_into(original, out));
            }
        }
    };
}

versioned_data_component!(BlockChunk, "BlockChunk");
versioned_data_component!(BlockSection, "Block");
data_component!(EnvironmentChunk, "EnvironmentChunk");
data_component!(BlockHealthChunk, "BlockHealthChunk");
data_component!(FluidSection, "Fluid", same_cells);
data_component!(BlockPhysics, "BlockPhysics", same_cells);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Holder;
    use crate::error::Error;
    use hyworld_documents::DocumentWriter;

    #[test]
    fn a_missing_field_is_reported() {
        let mut holder = Holder::new();
        holder.set_raw("BlockChunk", &DocumentWriter::new().finish()).unwrap();
        let error = holder.get::<BlockChunk>().unwrap_err();
        assert_eq!(error.to_string(), "BlockChunk: at byte 0: the binary field Data is missing");
    }

    #[test]
    fn an_error_names_the_field() {
        let mut writer = DocumentWriter::new();
        writer.binary("Data", 0, &[2, 0, 0]);
        let mut holder = Holder::new();
        holder.set_raw("BlockHealthChunk", &writer.finish()).unwrap();
        let error = holder.get::<BlockHealthChunk>().unwrap_err();
        assert!(matches!(&error, Error::Malformed { path, .. } if path == "BlockHealthChunk.Data"));
    }

    #[test]
    fn other_fields_are_kept() {
        let mut writer = DocumentWriter::new();
        writer.binary("Data", 0, &BlockHealthChunk::new().encode());
        writer.string("LastRepairGameTime", "0001-02-12T21:36:09.047982402Z");
        let document = writer.finish();
        let mut holder = Holder::new();
        holder.set_raw("BlockHealthChunk", &document).unwrap();
        let health = holder.get::<BlockHealthChunk>().unwrap().unwrap().clone();
        holder.put(&health).unwrap();
        assert_eq!(holder.raw("BlockHealthChunk").unwrap().as_bytes(), document);
    }
}
