//! Reads and writes the values of settings.

use hyworld_documents::{Document, Uuid, Value};
use hyworld_providers::ProviderConfig;
use serde_json::{Map, Number};

/// Maximum length of a value in a message, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// A key has an invalid value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{key} must be {expected}, not {found}")]
pub struct SettingProblem {
    /// The full key, such as `SpawnProvider.SpawnPoint.X`.
    pub key: String,
    /// What is expected.
    pub expected: &'static str,
    /// The value that was found.
    pub found: String,
}

impl SettingProblem {
    pub(crate) fn new(expected: &'static str, found: &Value) -> Self {
        Self { key: String::new(), expected, found: shown(found) }
    }

    /// Prepends `key` and a dot to the path of the setting.
    pub(crate) fn inside(mut self, key: &str) -> Self {
        self.key = if self.key.is_empty() { key.to_owned() } else { format!("{key}.{}", self.key) };
        self
    }
}

/// Formats a value on one line, truncated if it is long.
fn shown(value: &Value) -> String {
    let mut object = Document::new();
    object.set("", value.clone());
    let json = object.to_json();
    let text = json.trim_start_matches("{\n  \"\": ").trim_end_matches("\n}");
    let line: Vec<_> = text.split_whitespace().collect();
    let line = line.join(" ");
    match line.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((cut, _)) => format!("{}...", line.get(..cut).unwrap_or_default()),
        None => line,
    }
}

/// A type that the value of a setting can have.
pub(super) trait Setting: Sized {
    /// Parses a value. `Null` is never passed: it counts as a missing key.
    fn read(value: &Value) -> Result<Self, SettingProblem>;

    /// Returns the value to write, or `None` to omit the key. Preserves unknown parts of the old
    /// value.
    fn write(&self, old: Option<&Value>) -> Option<Value>;
}

/// Reads a key, or returns `None` if it is missing or null.
pub(super) fn read_key<T: Setting>(
    document: &Document,
    key: &str,
) -> Result<Option<T>, SettingProblem> {
    let value = document.get(key).filter(|value| **value != Value::Null);
    value.map(|value| T::read(value).map_err(|problem| problem.inside(key))).transpose()
}

/// Returns an integer value in the form that JSON text parses to.
pub(super) fn integer(number: i64) -> Value {
    i32::try_from(number).map_or(Value::Int64(number), Value::Int32)
}

/// Returns the value as an object, or an error.
pub(super) fn object(value: &Value) -> Result<&Document, SettingProblem> {
    value.as_document().ok_or_else(|| SettingProblem::new("an object", value))
}

impl<T: Setting> Setting for Option<T> {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        T::read(value).map(Some)
    }

    fn write(&self, old: Option<&Value>) -> Option<Value> {
        self.as_ref().and_then(|value| value.write(old))
    }
}

impl Setting for bool {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        match value {
            Value::Boolean(value) => Ok(*value),
            other => Err(SettingProblem::new("true or false", other)),
        }
    }

    fn write(&self, _old: Option<&Value>) -> Option<Value> {
        Some(Value::Boolean(*self))
    }
}

impl Setting for i64 {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        match value {
            Value::Int32(number) => Ok((*number).into()),
            Value::Int64(number) => Ok(*number),
            other => Err(SettingProblem::new("a whole number", other)),
        }
    }

    fn write(&self, _old: Option<&Value>) -> Option<Value> {
        Some(integer(*self))
    }
}

impl Setting for i32 {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        let wrong = || SettingProblem::new("a whole number of 32 bits", value);
        Self::try_from(i64::read(value)?).map_err(|_| wrong())
    }

    fn write(&self, _old: Option<&Value>) -> Option<Value> {
        Some(Value::Int32(*self))
    }
}

impl Setting for f64 {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        match value {
            Value::Double(number) => Ok(*number),
            // Hand-written templates have `1` for `1.0`.
            Value::Int32(number) => Ok((*number).into()),
            Value::Int64(number) => {
                number.to_string().parse().map_err(|_| SettingProblem::new("a number", value))
            }
            other => Err(SettingProblem::new("a number", other)),
        }
    }

    fn write(&self, _old: Option<&Value>) -> Option<Value> {
        Some(Value::Double(*self))
    }
}

impl Setting for String {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        let text = value.as_str().ok_or_else(|| SettingProblem::new("a string", value))?;
        Ok(text.to_owned())
    }

    fn write(&self, _old: Option<&Value>) -> Option<Value> {
        Some(Value::String(self.clone()))
    }
}

impl Setting for Uuid {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        let expected = "a UUID, as {\"$binary\": \"...\", \"$type\": \"04\"}";
        Self::from_value(value).ok_or_else(|| SettingProblem::new(expected, value))
    }

    fn write(&self, _old: Option<&Value>) -> Option<Value> {
        Some(self.to_value())
    }
}

impl Setting for Document {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        object(value).cloned()
    }

    fn write(&self, _old: Option<&Value>) -> Option<Value> {
        Some(Value::Document(self.clone()))
    }
}

/// A set of strings.
impl Setting for Vec<String> {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        match value {
            Value::Array(values) => values.iter().map(String::read).collect(),
            other => Err(SettingProblem::new("a list of strings", other)),
        }
    }

    fn write(&self, _old: Option<&Value>) -> Option<Value> {
        Some(Value::Array(self.iter().cloned().map(Value::String).collect()))
    }
}

/// A map from strings to strings, in order.
impl Setting for Vec<(String, String)> {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        let read = |(key, value): (&str, &Value)| {
            let text = String::read(value).map_err(|problem| problem.inside(key))?;
            Ok((key.to_owned(), text))
        };
        object(value)?.fields().map(read).collect()
    }

    fn write(&self, _old: Option<&Value>) -> Option<Value> {
        let mut document = Document::new();
        for (key, value) in self {
            document.set(key, Value::String(value.clone()));
        }
        Some(Value::Document(document))
    }
}

impl Setting for ProviderConfig {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        object(value)?;
        let expected = "a provider, as {\"Type\": \"Hytale\"}";
        let wrong = || SettingProblem::new(expected, value);
        let json = to_serde(value).ok_or_else(wrong)?;
        Self::from_json(&json).map_err(|_| wrong())
    }

    fn write(&self, _old: Option<&Value>) -> Option<Value> {
        Some(from_serde(&self.to_json()))
    }
}

/// Converts a value to plain JSON, if possible.
fn to_serde(value: &Value) -> Option<serde_json::Value> {
    use serde_json::Value as Json;
    Some(match value {
        Value::Double(number) => Json::Number(Number::from_f64(*number)?),
        Value::String(text) => Json::String(text.clone()),
        Value::Boolean(value) => Json::Bool(*value),
        Value::Null => Json::Null,
        Value::Int32(number) => Json::from(*number),
        Value::Int64(number) => Json::from(*number),
        Value::Array(values) => Json::Array(values.iter().map(to_serde).collect::<Option<_>>()?),
        Value::Document(document) => {
            let fields = document.fields();
            let fields = fields.map(|(key, value)| Some((key.to_owned(), to_serde(value)?)));
            Json::Object(fields.collect::<Option<Map<_, _>>>()?)
        }
        _ => return None,
    })
}

fn from_serde(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Boolean(*value),
        Json::Number(number) => match number.as_i64() {
            Some(number) => integer(number),
            None => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::String(text.clone()),
        Json::Array(values) => Value::Array(values.iter().map(from_serde).collect()),
        Json::Object(fields) => {
            let mut document = Document::new();
            for (key, value) in fields {
                document.set(key, from_serde(value));
            }
            Value::Document(document)
        }
    }
}

/// Reads a provider from a key of a document, or returns `None` if it is missing.
pub(crate) fn provider_in(
    document: &Document,
    key: &str,
) -> Result<Option<ProviderConfig>, SettingProblem> {
    read_key(document, key)
}

pub(crate) fn provider_value(provider: &ProviderConfig) -> Value {
    from_serde(&provider.to_json())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_keep_their_keys() {
        let text = "{\"P\": {\"Type\": \"x:Y\", \"N\": [1, 5000000000, 1.5, null, true], \
                    \"O\": {\"b\": \"\", \"a\": {}}}}";
        let document = Document::from_json(text).unwrap();
        let provider = provider_in(&document, "P").unwrap().unwrap();
        assert_eq!(Some(&provider_value(&provider)), document.get("P"));
        assert_eq!(provider_in(&document, "Q"), Ok(None));
        for wrong in ["{\"P\": {\"Type\": 3}}", "{\"P\": {\"Type\": \"a\", \"N\": NaN}}"] {
            let document = Document::from_json(wrong).unwrap();
            assert!(provider_in(&document, "P").is_err(), "{wrong}");
        }
    }

    #[test]
    fn long_values_are_truncated_in_messages() {
        let value = Value::String("\u{e9}".repeat(100));
        let problem = SettingProblem::new("short", &value).inside("B").inside("A");
        assert_eq!(problem.key, "A.B");
        assert!(problem.found.ends_with("...") && problem.found.chars().count() == 63);
    }
}
