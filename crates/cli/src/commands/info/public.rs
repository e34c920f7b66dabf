//! The JSON of `info` without paths, for clients of `serve` on other machines.

use std::path::Path;

use hyworld::Info;
use serde_json::{Map, Value, json};

/// Members that are paths, or that may have some in their texts or list files outside of the
/// worlds.
const LEFT_OUT: [&str; 5] = ["path", "folder", "location", "findings", "others_in_save"];

/// Returns the JSON without paths. A provider has only its type, because it can name a folder, a
/// database or a bucket.
pub(super) fn without_paths(info: &Info) -> serde_json::Result<Value> {
    let mut json = serde_json::to_value(info)?;
    if let Some(universe) = json.get_mut("universe").and_then(Value::as_object_mut) {
        universe.shift_remove("others");
    }
    if let Value::Object(object) = &mut json {
        reduce(object);
    }
    Ok(json)
}

fn reduce(object: &mut Map<String, Value>) {
    object.retain(|key, _| !LEFT_OUT.contains(&&**key));
    for (key, value) in object {
        match (&**key, &mut *value) {
            ("newest", Value::String(path)) => {
                let name = Path::new(path).file_name().unwrap_or_default();
                *value = name.display().to_string().into();
            }
            ("provider" | "pending_provider", Value::Object(provider)) => {
                *value = json!({ "Type": provider.get("Type") });
            }
            // The text can name the file that a program has open.
            ("writer", Value::String(_)) => *value = "a program is writing this world".into(),
            (_, Value::Object(object)) => reduce(object),
            (_, Value::Array(values)) => {
                values.iter_mut().filter_map(Value::as_object_mut).for_each(reduce);
            }
            _ => {}
        }
    }
}
