//! Component types that a program knows, and holders whose components it uses as values.
//!
//! What is registered decodes to its type when it is asked for and is written back when it was
//! changed. What is not stays the document it is. That holds for the game's own components and
//! for those of any mod.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::block_chunk::BlockChunk;
use crate::block_health::BlockHealthChunk;
use crate::block_section::BlockSection;
use crate::component::{self, Component};
use crate::components::{
    BlockComponentChunk, ChunkSection, ChunkSpawnedNpcData, EntityChunk, WorldChunk,
};
use crate::environment::EnvironmentChunk;
use crate::error::Result;
use crate::fluid::FluidSection;
use crate::holder::Holder;
use crate::physics::BlockPhysics;
use hyworld_documents::RawDocument;

/// A component value of some registered type.
type Boxed = Box<dyn Any + Send + Sync>;

/// Writes a value over the document that it was read from; `None` if it has another type.
type Encode = fn(&Boxed, Option<RawDocument<'_>>) -> Result<Option<Vec<u8>>>;

/// How a registered type is read and written.
#[derive(Clone, Copy)]
struct Codec {
    decode: fn(RawDocument<'_>) -> Result<Boxed>,
    encode: Encode,
    type_id: fn() -> TypeId,
}

/// The component types that a program knows.
///
/// ```
/// use hyworld_chunk::ComponentRegistry;
///
/// let mut registry = ComponentRegistry::with_game_components();
/// registry.register_not_serialized("mymod:Ghost");
/// assert!(registry.is_registered("Block"));
/// assert!(!registry.is_registered("mymod:Ghost"));
/// ```
#[derive(Clone, Default)]
pub struct ComponentRegistry {
    codecs: BTreeMap<&'static str, Codec>,
    not_serialized: BTreeSet<String>,
}

impl fmt::Debug for ComponentRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComponentRegistry")
            .field("components", &self.codecs.keys())
            .field("not_serialized", &self.not_serialized)
            .finish()
    }
}

impl ComponentRegistry {
    /// A registry without types: every component stays a document.
    pub fn new() -> Self {
        Self::default()
    }

    /// A registry with all of the game's own chunk and section components, and its marker for
    /// holders that are not stored.
    pub fn with_game_components() -> Self {
        let mut registry = Self::new();
        registry.register::<WorldChunk>();
        registry.register::<BlockChunk>();
        registry.register::<EnvironmentChunk>();
        registry.register::<BlockHealthChunk>();
        registry.register::<BlockComponentChunk>();
        registry.register::<EntityChunk>();
        registry.register::<ChunkSpawnedNpcData>();
        registry.register::<ChunkSection>();
        registry.register::<BlockSection>();
        registry.register::<FluidSection>();
        registry.register::<BlockPhysics>();
        registry.register_not_serialized("NonSerialized");
        registry
    }

    /// Registers a component type under its id.
    pub fn register<C: Component>(&mut self) {
        let codec = Codec {
            decode: |document| Ok(Box::new(component::decode::<C>(document)?)),
            encode: |value, found| match value.downcast_ref::<C>() {
                Some(value) => component::encode(value, found).map(Some),
                None => Ok(None),
            },
            type_id: TypeId::of::<C>,
        };
        self.codecs.insert(C::ID, codec);
    }

    /// Marks an id as one that is never stored: the component is left out, and a holder that
    /// carries it is not stored at all.
    pub fn register_not_serialized(&mut self, id: &str) {
        self.not_serialized.insert(id.to_owned());
    }

    /// Whether the id has a type.
    pub fn is_registered(&self, id: &str) -> bool {
        self.codecs.contains_key(id)
    }

    /// Whether the id marks holders that are not stored.
    pub fn is_not_serialized(&self, id: &str) -> bool {
        self.not_serialized.contains(id)
    }

    /// Uses a holder's components as values.
    pub fn live(self: &Arc<Self>, holder: Holder) -> LiveHolder {
        LiveHolder { registry: Arc::clone(self), holder, values: BTreeMap::new() }
    }
}

/// A decoded component, and whether somebody may have changed it.
#[derive(Debug)]
struct LiveValue {
    value: Boxed,
    changed: bool,
}

/// A holder whose registered components are values while it is in use.
#[derive(Debug)]
pub struct LiveHolder {
    registry: Arc<ComponentRegistry>,
    holder: Holder,
    values: BTreeMap<String, LiveValue>,
}

impl LiveHolder {
    /// Whether it has a component, as a value or as a document.
    pub fn contains(&self, id: &str) -> bool {
        self.values.contains_key(id) || self.holder.contains(id)
    }

    /// A component's value, decoded when it is first asked for; `None` if there is none, or if
    /// its type is not registered.
    ///
    /// # Errors
    /// It is malformed, or a newer game wrote it. The others are not affected, and its bytes
    /// are kept.
    pub fn get<C: Component>(&mut self) -> Result<Option<&C>> {
        self.load::<C>()?;
        Ok(self.values.get(C::ID).and_then(|live| live.value.downcast_ref()))
    }

    /// As [`get`](Self::get), to change it. It is written back when the holder is saved.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub fn get_mut<C: Component>(&mut self) -> Result<Option<&mut C>> {
        self.load::<C>()?;
        let live = self.values.get_mut(C::ID);
        Ok(live.and_then(|live| {
            live.changed = true;
            live.value.downcast_mut()
        }))
    }

    /// Adds a component, or replaces it.
    pub fn insert<C: Component>(&mut self, component: C) {
        let live = LiveValue { value: Box::new(component), changed: true };
        self.values.insert(C::ID.to_owned(), live);
    }

    /// Removes a component; whether it was there.
    pub fn remove(&mut self, id: &str) -> bool {
        let was_live = self.values.remove(id).is_some();
        self.holder.remove(id) || was_live
    }

    fn load<C: Component>(&mut self) -> Result<()> {
        if self.values.contains_key(C::ID) {
            return Ok(());
        }
        let codec = self.registry.codecs.get(C::ID);
        let codec = codec.filter(|codec| (codec.type_id)() == TypeId::of::<C>());
        if let (Some(codec), Some(document)) = (codec, self.holder.raw(C::ID)) {
            let value = (codec.decode)(document).map_err(|error| error.inside(C::ID))?;
            self.values.insert(C::ID.to_owned(), LiveValue { value, changed: false });
        }
        Ok(())
    }

    /// The holder as it is to be stored: changed values written back, everything else as it was;
    /// `None` if it carries a component that marks it as not to be stored.
    ///
    /// # Errors
    /// The document under a changed component is malformed.
    pub fn save(&self) -> Result<Option<Holder>> {
        if self.registry.not_serialized.iter().any(|id| self.contains(id)) {
            return Ok(None);
        }
        let mut holder = self.holder.clone();
        for (id, live) in self.values.iter().filter(|(_, live)| live.changed) {
            let Some(codec) = self.registry.codecs.get(id.as_str()) else { continue };
            let encoded = (codec.encode)(&live.value, holder.raw(id));
            if let Some(encoded) = encoded.map_err(|error| error.inside(id))? {
                holder.set_raw(id, &encoded)?;
            }
        }
        Ok(Some(holder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::Fields;
    use crate::error::Error;
    use hyworld_documents::DocumentWriter;

    #[derive(Debug, PartialEq)]
    struct Age(i32);

    impl Component for Age {
        const ID: &'static str = "Age";
        const VERSION: i32 = 2;

        fn decode(document: RawDocument<'_>, _version: i32) -> Result<Self> {
            let years = document.get("Years")?.and_then(|years| years.as_i32());
            Ok(Self(years.unwrap_or(0)))
        }

        fn encode(&self, fields: &mut Fields) {
            fields.int32("Years", self.0);
        }
    }

    struct Marker;

    impl Component for Marker {
        const ID: &'static str = "NonSerialized";

        fn decode(_document: RawDocument<'_>, _version: i32) -> Result<Self> {
            Ok(Self)
        }

        fn encode(&self, _fields: &mut Fields) {}
    }

    fn age(version: i32) -> Vec<u8> {
        let mut writer = DocumentWriter::new();
        writer.int32("Version", version);
        writer.int32("Years", 30);
        writer.string("Note", "not understood");
        writer.finish()
    }

    fn holder(version: i32) -> Holder {
        let mut holder = Holder::new();
        holder.set_raw("Unregistered", &age(9)).unwrap();
        holder.set_raw("Age", &age(version)).unwrap();
        Holder::decode(holder.encode()).unwrap()
    }

    fn registry() -> Arc<ComponentRegistry> {
        let mut registry = ComponentRegistry::new();
        registry.register::<Age>();
        registry.register_not_serialized("NonSerialized");
        Arc::new(registry)
    }

    #[test]
    fn reading_changes_nothing() {
        let mut live = registry().live(holder(2));
        assert_eq!(live.get::<Age>().unwrap(), Some(&Age(30)));
        assert_eq!(live.save().unwrap().unwrap().encode(), holder(2).encode());
    }

    #[test]
    fn a_changed_component_is_written_back_and_the_rest_stays() {
        let mut live = registry().live(holder(1));
        live.get_mut::<Age>().unwrap().unwrap().0 = 31;
        let saved = live.save().unwrap().unwrap();
        assert_eq!(saved.get::<Age>().unwrap(), Some(Age(31)));
        let document = saved.raw("Age").unwrap();
        assert_eq!(document.get("Version").unwrap().unwrap().as_i32(), Some(2));
        assert_eq!(document.get("Note").unwrap().unwrap().as_str(), Some("not understood"));
        assert_eq!(saved.raw("Unregistered"), holder(1).raw("Unregistered"));
    }

    #[test]
    fn a_newer_component_is_an_error_for_itself_and_its_bytes_are_kept() {
        let mut live = registry().live(holder(3));
        let error = live.get::<Age>().unwrap_err();
        assert_eq!(error, Error::Newer { path: "Age".to_owned(), found: 3, known: 2 });
        assert_eq!(live.save().unwrap().unwrap().encode(), holder(3).encode());
    }

    #[test]
    fn an_unregistered_type_is_not_decoded() {
        let mut live = Arc::new(ComponentRegistry::new()).live(holder(2));
        assert_eq!(live.get::<Age>().unwrap(), None);
        assert!(live.contains("Age"));
    }

    #[test]
    fn a_holder_that_is_not_to_be_stored_is_skipped() {
        let mut live = registry().live(holder(2));
        live.insert(Marker);
        assert!(live.save().unwrap().is_none());
        assert!(live.remove("NonSerialized"));
        assert!(live.save().unwrap().is_some());
    }

    #[test]
    fn inserted_components_are_stored_and_removed_ones_are_not() {
        let mut live = registry().live(Holder::new());
        live.insert(Age(1));
        assert!(live.save().unwrap().unwrap().contains("Age"));
        assert!(live.remove("Age") && !live.remove("Age"));
        assert!(!live.save().unwrap().unwrap().contains("Age"));
    }
}
