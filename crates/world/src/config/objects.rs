//! Settings that are objects with a name of their kind.

use hyworld_documents::{Document, Value};

use super::setting::{Setting, SettingProblem, object, read_key};

const TYPE_KEY: &str = "Type";
const ID_KEY: &str = "Id";
const SPAWN_POINT_KEY: &str = "SpawnPoint";

/// An object whose `Type` says what it is; the rest depends on that.
#[derive(Clone, PartialEq, Debug)]
pub struct TypedObject {
    document: Document,
}

impl TypedObject {
    /// The object with this `Type` and nothing else.
    pub fn new(type_name: &str) -> Self {
        let mut document = Document::new();
        document.set(TYPE_KEY, Value::String(type_name.to_owned()));
        Self { document }
    }

    /// The same with another value for a key.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.document.set(key, value);
        self
    }

    /// Its `Type`. Without one the game takes its default.
    pub fn type_name(&self) -> Option<&str> {
        self.document.get(TYPE_KEY).and_then(Value::as_str)
    }

    /// All of it.
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

/// A place and a direction.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Transform {
    /// Blocks along the first horizontal axis.
    pub x: f64,
    /// Blocks up.
    pub y: f64,
    /// Blocks along the second horizontal axis.
    pub z: f64,
    /// Up and down, in degrees.
    pub pitch: f64,
    /// Around, in degrees.
    pub yaw: f64,
    /// Sideways, in degrees.
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
    /// The object that it is in a file.
    pub fn to_document(self) -> Document {
        match self.write(None) {
            Some(Value::Document(document)) => document,
            _ => Document::new(),
        }
    }
}

/// Where players appear: an object whose `Id` says how that is decided. The game has `Global`,
/// `Individual` and `FitToHeightMap`.
#[derive(Clone, PartialEq, Debug)]
pub struct SpawnProvider {
    document: Document,
}

impl SpawnProvider {
    /// One place for all.
    pub fn global(spawn_point: Transform) -> Self {
        Self::with_point(Value::Document(spawn_point.to_document()))
    }

    /// One place for all, as an object that may have other keys as well.
    pub(super) fn with_point(point: Value) -> Self {
        let mut document = Document::new();
        document.set(ID_KEY, Value::String("Global".to_owned()));
        document.set(SPAWN_POINT_KEY, point);
        Self { document }
    }

    /// Its `Id`.
    pub fn id(&self) -> Option<&str> {
        self.document.get(ID_KEY).and_then(Value::as_str)
    }

    /// The place, if there is one for all.
    pub fn spawn_point(&self) -> Option<Transform> {
        // It was checked when it was read.
        read_key(&self.document, SPAWN_POINT_KEY).ok().flatten()
    }

    /// All of it.
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
    fn a_spawn_point_comes_back() {
        let point = Transform { x: 0.5, y: 80.0, z: -0.5, yaw: 180.0, ..Transform::default() };
        let provider = SpawnProvider::global(point);
        assert_eq!((provider.id(), provider.spawn_point()), (Some("Global"), Some(point)));
        let again = SpawnProvider::read(&provider.write(None).unwrap()).unwrap();
        assert_eq!(again, provider);
        let keys: Vec<_> = point.to_document().fields().map(|(key, _)| key.to_owned()).collect();
        assert_eq!(keys, ["X", "Y", "Z", "Pitch", "Yaw", "Roll"]);
    }

    #[test]
    fn types_are_text_and_other_keys_stay() {
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
