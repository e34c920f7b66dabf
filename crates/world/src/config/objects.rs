//! Settings that are objects with a type name.

use hyworld_documents::{Document, Value};

use super::setting::{Setting, SettingProblem, object, read_key};

const TYPE_KEY: &str = "Type";
const ID_KEY: &str = "Id";
const SPAWN_POINT_KEY: &str = "SpawnPoint";

/// An object with a `Type`, which determines the other keys.
#[derive(Clone, PartialEq, Debug)]
pub struct TypedObject {
    document: Document,
}

impl TypedObject {
    /// Creates an object with this `Type` and no other keys.
    pub fn new(type_name: &str) -> Self {
        let mut document = Document::new();
        document.set(TYPE_KEY, Value::String(type_name.to_owned()));
        Self { document }
    }

    /// Returns the object with `key` set to `value`.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.document.set(key, value);
        self
    }

    /// Returns the `Type`. If it is missing, the game uses its default.
    pub fn type_name(&self) -> Option<&str> {
        self.document.get(TYPE_KEY).and_then(Value::as_str)
    }

    /// Returns the complete object.
    pub fn document(&self) -> &Document {
        &self.document
    }
}

impl Setting for TypedObject {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        let document = object(value)?.clone();
        read_key::<String>(&document, TYPE_KEY)?;
        Ok(Self { document })
    }

    fn write(&self, _old: Option<&Value>) -> Option<Value> {
        Some(Value::Document(self.document.clone()))
    }
}

/// A position and a rotation.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Transform {
    /// X coordinate, in blocks.
    pub x: f64,
    /// Y coordinate (height), in blocks.
    pub y: f64,
    /// Z coordinate, in blocks.
    pub z: f64,
    /// Rotation up and down, in degrees.
    pub pitch: f64,
    /// Rotation around the vertical axis, in degrees.
    pub yaw: f64,
    /// Rotation sideways, in degrees.
    pub roll: f64,
}

impl Setting for Transform {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        let document = object(value)?;
        let number = |key| Ok(read_key(document, key)?.unwrap_or(0.0));
        Ok(Self {
            x: number("X")?,
            y: number("Y")?,
            z: number("Z")?,
            pitch: number("Pitch")?,
            yaw: number("Yaw")?,
            roll: number("Roll")?,
        })
    }

    fn write(&self, _old: Option<&Value>) -> Option<Value> {
        let mut document = Document::new();
        let members = [
            ("X", self.x),
            ("Y", self.y),
            ("Z", self.z),
            ("Pitch", self.pitch),
            ("Yaw", self.yaw),
            ("Roll", self.roll),
        ];
        for (key, number) in members {
            document.set(key, Value::Double(number));
        }
        Some(Value::Document(document))
    }
}

impl Transform {
    /// Returns the object as written to files.
    pub fn to_document(self) -> Document {
        match self.write(None) {
            Some(Value::Document(document)) => document,
            _ => Document::new(),
        }
    }
}

/// Determines where players spawn: an object with an `Id`. The game has `Global`, `Individual` and
/// `FitToHeightMap`.
#[derive(Clone, PartialEq, Debug)]
pub struct SpawnProvider {
    document: Document,
}

impl SpawnProvider {
    /// Creates a provider with one spawn point for all players.
    pub fn global(spawn_point: Transform) -> Self {
        Self::with_point(Value::Document(spawn_point.to_document()))
    }

    /// Creates a provider with one spawn point for all players; the object may have other keys.
    pub(super) fn with_point(point: Value) -> Self {
        let mut document = Document::new();
        document.set(ID_KEY, Value::String("Global".to_owned()));
        document.set(SPAWN_POINT_KEY, point);
        Self { document }
    }

    /// Returns the `Id`.
    pub fn id(&self) -> Option<&str> {
        self.document.get(ID_KEY).and_then(Value::as_str)
    }

    /// Returns the spawn point of all players, or `None` if they do not share one.
    pub fn spawn_point(&self) -> Option<Transform> {
        // The value was checked when it was read.
        read_key(&self.document, SPAWN_POINT_KEY).ok().flatten()
    }

    /// Returns the complete object.
    pub fn document(&self) -> &Document {
        &self.document
    }
}

impl Setting for SpawnProvider {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        let document = object(value)?.clone();
        let id = read_key::<String>(&document, ID_KEY)?;
        if id.as_deref() == Some("Global") {
            read_key::<Transform>(&document, SPAWN_POINT_KEY)?;
        }
        Ok(Self { document })
    }

    fn write(&self, _old: Option<&Value>) -> Option<Value> {
        Some(Value::Document(self.document.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spawn_point_round_trips() {
        let point = Transform { x: 0.5, y: 80.0, z: -0.5, yaw: 180.0, ..Transform::default() };
        let provider = SpawnProvider::global(point);
        assert_eq!((provider.id(), provider.spawn_point()), (Some("Global"), Some(point)));
        let again = SpawnProvider::read(&provider.write(None).unwrap()).unwrap();
        assert_eq!(again, provider);
        let keys: Vec<_> = point.to_document().fields().map(|(key, _)| key.to_owned()).collect();
        assert_eq!(keys, ["X", "Y", "Z", "Pitch", "Yaw", "Roll"]);
    }

    #[test]
    fn types_are_strings_and_other_keys_are_preserved() {
        let object = TypedObject::new("Flat").with("Layers", Value::Array(vec![Value::Int32(1)]));
        let again = TypedObject::read(&object.write(None).unwrap()).unwrap();
        assert_eq!((again.type_name(), again.document()), (Some("Flat"), object.document()));
        let wrong = Value::Document(Document::from_json("{\"Type\": []}").unwrap());
        assert!(TypedObject::read(&wrong).is_err());
        let other =
            Value::Document(Document::from_json("{\"Id\": \"Mine\", \"SpawnPoint\": 1}").unwrap());
        assert_eq!(SpawnProvider::read(&other).unwrap().spawn_point(), None);
    }
}
