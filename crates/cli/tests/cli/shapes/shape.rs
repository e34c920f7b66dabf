//! The shape of JSON values: keys and types.

use serde_json::Value;

/// The maximum line length, which fits a terminal of the usual width with an indent.
const WIDTH: usize = 78;

/// Keys whose value is a document of the game, or a map with arbitrary keys.
const ANY: [&str; 12] = [
    "block_entity",
    "classes",
    "entities_kept_in_chunks",
    "newest_versions",
    "document",
    "other_fields",
    "pending_provider",
    "provider",
    "rest",
    "spawned_npcs",
    "switches",
    "value",
];

/// Keys whose value can be a map from names to numbers, or to such maps.
const MAPS: [&str; 7] =
    ["block_entities", "blocks", "by_environment", "entities", "environments", "fluids", "items"];

/// Returns whether a value is a document of the game or a map.
fn is_any(key: &str, value: &Value) -> bool {
    let is_count = |value: &Value| value.is_number() || value.is_object();
    value.as_object().is_some_and(|members| {
        ANY.contains(&key) || MAPS.contains(&key) && members.values().all(is_count)
    })
}

/// The shape of one value in several samples.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    seen: u64,
    is_null: bool,
    /// `boolean`, `number` and `text`, each at most once.
    plain: Vec<&'static str>,
    is_any: bool,
    items: Option<Box<Shape>>,
    members: Vec<(String, Shape)>,
    is_object: bool,
}

impl Shape {
    pub(super) fn of(samples: &[Value]) -> Self {
        let mut shape = Self::default();
        for sample in samples {
            shape.add(sample);
        }
        shape
    }

    fn add(&mut self, value: &Value) {
        self.seen += 1;
        match value {
            Value::Null => self.is_null = true,
            Value::Bool(_) => self.add_plain("boolean"),
            Value::Number(_) => self.add_plain("number"),
            Value::String(_) => self.add_plain("text"),
            Value::Array(values) => {
                let items = self.items.get_or_insert_default();
                for value in values {
                    items.add(value);
                }
            }
            Value::Object(members) => {
                self.is_object = true;
                let mut next = 0;
                for (key, value) in members {
                    next = self.add_member(key, value, next) + 1;
                }
            }
        }
    }

    fn add_plain(&mut self, name: &'static str) {
        if !self.plain.contains(&name) {
            self.plain.push(name);
        }
    }

    /// Adds a member and returns its index. A new key is inserted at `next`, behind the key that is
    /// printed before it, so that the order does not depend on which sample comes first.
    fn add_member(&mut self, key: &str, value: &Value, next: usize) -> usize {
        let found = self.members.iter().position(|(known, _)| known == key);
        let index = found.unwrap_or_else(|| {
            self.members.insert(next, (key.to_owned(), Self::default()));
            next
        });
        let member = &mut self.members[index].1;
        if is_any(key, value) {
            member.seen += 1;
            member.is_any = true;
        } else {
            member.add(value);
        }
        index
    }

    /// Formats the shape in one line.
    fn short(&self) -> String {
        let mut parts: Vec<String> = self.plain.iter().map(ToString::to_string).collect();
        if let Some(items) = &self.items {
            parts.push(format!("[{}]", items.short()));
        }
        if self.is_object {
            let objects = self.seen - u64::from(self.is_null);
            let members = self.members.iter().map(|(key, member)| {
                let mark = if member.seen < objects && !self.is_null { "?" } else { "" };
                format!("\"{key}\"{mark}: {}", member.short())
            });
            parts.push(format!("{{{}}}", members.collect::<Vec<_>>().join(", ")));
        }
        if self.is_any {
            parts.push("{...}".to_owned());
        }
        if self.is_null {
            parts.push("null".to_owned());
        }
        parts.join(" or ")
    }

    /// Formats the shape in as many lines as needed.
    pub(super) fn lines(&self) -> String {
        let text = self.short();
        let mut lines = String::new();
        let (mut depth, mut line, mut indent) = (0_usize, String::new(), 0_usize);
        // Lines are broken only after commas, as late as possible.
        for part in text.split_inclusive(", ") {
            if indent + line.len() + part.trim_end().len() > WIDTH && !line.is_empty() {
                lines.extend([" ".repeat(indent).as_str(), line.trim_end(), "\n"]);
                (line, indent) = (String::new(), depth);
            }
            line.push_str(part);
            depth += part.matches(['{', '[']).count();
            depth -= part.matches(['}', ']']).count();
        }
        lines.extend([" ".repeat(indent), line]);
        lines
    }
}

#[test]
fn shapes_of_samples_are_merged() {
    let samples: Vec<Value> = [
        r#"{"a": 1, "b": null, "list": [], "provider": {"Type": "x"}}"#,
        r#"{"a": 1, "b": {"c": true}, "list": [["x", 2]], "provider": null, "more": "x"}"#,
    ]
    .map(|text| serde_json::from_str(text).unwrap())
    .to_vec();
    let expected = r#"{"a": number, "b": {"c": boolean} or null, "list": [[text or number]],
 "provider": {...} or null, "more"?: text}"#;
    assert_eq!(Shape::of(&samples).lines(), expected);
}
