use super::*;
use crate::limits::JSON_VALUES_MAX;

fn document(text: &str) -> Result<Document> {
    super::document(text, JSON_VALUES_MAX)
}

fn parsed(text: &str) -> Document {
    document(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn white_space_and_order_do_not_matter() {
    let document =
        parsed(" { \"a\" :\n[1 , 2.5,-3e2 ],\t\"u\":{\"$type\":\"00\",\"$binary\":\"\"}}\n");
    let numbers = vec![Value::Int32(1), Value::Double(2.5), Value::Double(-300.0)];
    assert_eq!(document.get("a"), Some(&Value::Array(numbers)));
    assert_eq!(document.get("u"), Some(&Value::Binary { subtype: 0, bytes: vec![] }));
}

#[test]
fn integers_get_the_smallest_size() {
    let document = parsed("{\"a\": 2147483647, \"b\": 2147483648, \"c\": -9223372036854775808}");
    assert_eq!(document.get("a"), Some(&Value::Int32(i32::MAX)));
    assert_eq!(document.get("b"), Some(&Value::Int64(1 << 31)));
    assert_eq!(document.get("c"), Some(&Value::Int64(i64::MIN)));
}

#[test]
fn errors_have_a_line_and_column() {
    for (text, line, column) in [
        ("", 1, 1),
        ("[1]", 1, 1),
        ("{\"a\": }", 1, 7),
        ("{\n  \"a\" 1}", 2, 7),
        ("{\"a\": 1,}", 1, 9),
        ("{\"a\": \"x}", 1, 8),
        ("{\"a\": \"\\q\"}", 1, 8),
        ("{\"a\": \"\\ud83d\"}", 1, 14),
        ("{\"a\": {\"$binary\": \"?\", \"$type\": \"00\"}}", 1, 7),
        ("{} x", 1, 4),
        ("{\"a\": 1 2}", 1, 9),
    ] {
        let error = document(text).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
    }
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth| format!("{}{}{}", "{\"a\":".repeat(depth), "1", "}".repeat(depth));
    assert!(document(&nested(100)).is_ok());
    assert!(document(&nested(101)).is_err());
    assert!(document(&format!("{{\"a\":{}", "[".repeat(1_000_000))).is_err());
    assert!(document(&"{\"a\":".repeat(1_000_000)).is_err());
}

#[test]
fn a_name_that_contains_a_zero_is_rejected() {
    let error = document("{\n\"a\": {\"b\\u0000c\": 1}}").unwrap_err();
    assert_eq!((error.line, error.column), (2, 7), "{error}");
    assert!(document("{\"a\": \"b\\u0000c\"}").is_ok());
}

#[test]
fn invalid_stored_bytes_are_rejected() {
    // A type that does not exist, an integer of one byte, a document of one byte, and invalid
    // UTF-8. A chunk with these could not be read any more.
    for (kind, base64) in [(200, ""), (16, "AA=="), (3, "AA=="), (2, "AQAAAP8=")] {
        let text = format!("{{\"a\": {{\"$bson\": {kind}, \"$base64\": \"{base64}\"}}}}");
        let error = document(&text).unwrap_err();
        assert_eq!((error.line, error.column), (1, 7), "{text}: {error}");
    }
    let number = parsed("{\"a\": {\"$bson\": 16, \"$base64\": \"BQAAAA==\"}}");
    assert_eq!(number.get("a"), Some(&Value::Int32(5)));
}

#[test]
fn members_beside_a_long_number_are_rejected() {
    assert!(document("{\"a\": {\"$numberLong\": \"5\", \"b\": 1}}").is_err());
}

/// A bug counted the lines again at every object, which took minutes for a text of this size.
#[test]
fn many_objects_take_linear_time() {
    let text = format!("{{\"a\": [{}{{}}]}}", "{},\n".repeat(400_000));
    assert!(document(&text).is_ok());
}

#[test]
fn every_truncation_is_rejected() {
    let text = "{\"a\": [true, null, {\"b\": \"\\u00e9\"}], \"c\": -1.5E-3}";
    assert!(document(text).is_ok());
    for len in 0..text.len() {
        assert!(document(&text[..len]).is_err(), "{len}");
    }
}

/// A value such as `0,` has two bytes of text and takes 32 bytes of memory or more.
#[test]
fn the_number_of_values_is_limited() {
    let many = |count: usize| format!("{{\"a\": [{}0]}}", "0,".repeat(count));
    let max = usize::try_from(JSON_VALUES_MAX).unwrap();
    assert!(Document::from_json(&many(max - 2)).is_ok());
    let error = Document::from_json(&many(max)).unwrap_err();
    assert_eq!(error.reason, "too many values");
}
