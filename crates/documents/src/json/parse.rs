//! Reading JSON text into a document. Lenient where the game is: any white space, any order of
//! members in a binary value, `NaN` and `Infinity` as they are written.

use super::super::{Document, Kind, Value};
use super::base64;
use crate::limits::DEPTH_MAX;

/// What is wrong with JSON text, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct JsonProblem {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What was expected or found.
    pub what: &'static str,
}

type Result<T> = std::result::Result<T, JsonProblem>;

pub(super) fn document(text: &str) -> Result<Document> {
    let mut parser = Parser { text, rest: text };
    parser.skip_space();
    let Value::Document(document) = parser.value(DEPTH_MAX)? else {
        return Err(parser.problem("expected an object"));
    };
    parser.skip_space();
    if parser.rest.is_empty() { Ok(document) } else { Err(parser.problem("text after the object")) }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
}

impl Parser<'_> {
    fn problem(&self, what: &'static str) -> JsonProblem {
        let at = self.text.len().saturating_sub(self.rest.len());
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count().saturating_add(1);
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        JsonProblem { line, column: column.saturating_add(1), what }
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    /// Steps over `token` and the space behind it, if it is next.
    fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                self.skip_space();
                true
            }
            None => false,
        }
    }

    fn value(&mut self, depth_left: u32) -> Result<Value> {
        let deeper = depth_left.checked_sub(1).ok_or_else(|| self.problem("nested too deep"))?;
        for (word, value) in [
            ("true", Value::Boolean(true)),
            ("false", Value::Boolean(false)),
            ("null", Value::Null),
            ("NaN", Value::Double(f64::NAN)),
            ("Infinity", Value::Double(f64::INFINITY)),
            ("-Infinity", Value::Double(f64::NEG_INFINITY)),
        ] {
            if self.take(word) {
                return Ok(value);
            }
        }
        match self.rest.chars().next() {
            Some('"') => Ok(Value::String(self.string()?)),
            Some('{') => self.object(deeper),
            Some('[') => self.array(deeper),
            Some('-' | '0'..='9') => self.number(),
            _ => Err(self.problem("expected a value")),
        }
    }

    fn object(&mut self, depth_left: u32) -> Result<Value> {
        let start = self.rest;
        let mut document = Document::new();
        self.take("{");
        while !self.take("}") {
            if document.fields().len() > 0 && !self.take(",") {
                return Err(self.problem("expected , or }"));
            }
            if !self.rest.starts_with('"') {
                return Err(self.problem("expected a name"));
            }
            let key = self.string()?;
            if !self.take(":") {
                return Err(self.problem("expected :"));
            }
            let value = self.value(depth_left)?;
            document.push(&key, value);
        }
        match extended(&document) {
            Extended::Plain => Ok(Value::Document(document)),
            Extended::Value(value) => Ok(value),
            Extended::Nonsense => {
                // Where it begins; finding the line takes time, so only now.
                self.rest = start;
                Err(self.problem("not a value that is known"))
            }
        }
    }

    fn array(&mut self, depth_left: u32) -> Result<Value> {
        let mut values = Vec::new();
        self.take("[");
        while !self.take("]") {
            if !values.is_empty() && !self.take(",") {
                return Err(self.problem("expected , or ]"));
            }
            values.push(self.value(depth_left)?);
        }
        Ok(Value::Array(values))
    }

    fn number(&mut self) -> Result<Value> {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        let value = match digits.parse::<i64>() {
            Ok(number) => match i32::try_from(number) {
                Ok(number) => Value::Int32(number),
                Err(_) => Value::Int64(number),
            },
            Err(_) => match digits.parse::<f64>() {
                Ok(number) => Value::Double(number),
                Err(_) => return Err(self.problem("expected a number")),
            },
        };
        self.rest = rest;
        self.skip_space();
        Ok(value)
    }

    fn string(&mut self) -> Result<String> {
        let mut out = String::new();
        self.rest = self.rest.strip_prefix('"').unwrap_or(self.rest);
        loop {
            let end = self.rest.find(['"', '\\']);
            let end = end.ok_or_else(|| self.problem("a string without its end"))?;
            let (plain, rest) = self.rest.split_at(end);
            out.push_str(plain);
            self.rest = rest;
            if self.take("\"") {
                return Ok(out);
            }
            out.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char> {
        let mut characters = self.rest.chars();
        let (_, letter) = (characters.next(), characters.next());
        let escaped = match letter {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some(same @ ('"' | '\\' | '/')) => same,
            Some('u') => return self.unicode(),
            _ => return Err(self.problem("an escape that is not known")),
        };
        self.rest = characters.as_str();
        Ok(escaped)
    }

    /// `\uXXXX`, twice for characters that need two UTF-16 units.
    fn unicode(&mut self) -> Result<char> {
        let mut units = Vec::new();
        for _ in 0..2 {
            let digits = self.rest.strip_prefix("\\u").and_then(|rest| rest.get(..4));
            let Some(unit) = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) else {
                return Err(self.problem("expected \\u and four digits"));
            };
            self.rest = self.rest.get(6..).unwrap_or_default();
            units.push(unit);
            if let Some(Ok(character)) = char::decode_utf16(units.iter().copied()).next() {
                return Ok(character);
            }
        }
        Err(self.problem("half of a character"))
    }
}

/// What an object stands for.
enum Extended {
    /// Itself.
    Plain,
    /// A value that JSON has no form for.
    Value(Value),
    /// It has the keys of such a value, but they make no sense.
    Nonsense,
}

/// Whether a document, written as an object, would not come back as one.
pub(super) fn is_ambiguous(document: &Document) -> bool {
    !matches!(extended(document), Extended::Plain)
}

fn extended(document: &Document) -> Extended {
    let text = |key| document.get(key).and_then(Value::as_str);
    let first = match document.fields().next() {
        Some((first, _)) if first.starts_with('$') && document.fields().len() <= 2 => first,
        _ => return Extended::Plain,
    };
    let value = match first {
        "$binary" | "$type" => {
            let bytes = text("$binary").and_then(base64::decode);
            let subtype = text("$type").and_then(|digits| u8::from_str_radix(digits, 16).ok());
            bytes.zip(subtype).map(|(bytes, subtype)| Value::Binary { subtype, bytes })
        }
        "$numberLong" => text(first).and_then(|digits| digits.parse().ok()).map(Value::Int64),
        super::OTHER_KEY => {
            let kind = match document.get(super::OTHER_KEY) {
                Some(Value::Int32(kind)) => u8::try_from(*kind).ok().map(Kind),
                _ => None,
            };
            let bytes = text("$base64").and_then(base64::decode);
            kind.zip(bytes).map(|(kind, bytes)| Value::Other { kind, bytes })
        }
        // A key of somebody's own that happens to begin so.
        _ => return Extended::Plain,
    };
    value.map_or(Extended::Nonsense, Extended::Value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Document {
        document(text).unwrap_or_else(|problem| panic!("{text}: {problem}"))
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
    fn integers_take_the_size_that_they_need() {
        let document =
            parsed("{\"a\": 2147483647, \"b\": 2147483648, \"c\": -9223372036854775808}");
        assert_eq!(document.get("a"), Some(&Value::Int32(i32::MAX)));
        assert_eq!(document.get("b"), Some(&Value::Int64(1 << 31)));
        assert_eq!(document.get("c"), Some(&Value::Int64(i64::MIN)));
    }

    #[test]
    fn problems_have_a_place() {
        for (text, line, column) in [
            ("", 1, 1),
            ("[1]", 1, 4),
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
            let problem = document(text).unwrap_err();
            assert_eq!((problem.line, problem.column), (line, column), "{text}: {problem}");
        }
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested = |depth| format!("{}{}{}", "{\"a\":".repeat(depth), "1", "}".repeat(depth));
        assert!(document(&nested(99)).is_ok());
        assert!(document(&nested(100)).is_err());
        assert!(document(&"[".repeat(1_000_000)).is_err());
    }

    #[test]
    fn every_cut_of_a_text_is_refused() {
        let text = "{\"a\": [true, null, {\"b\": \"\\u00e9\"}], \"c\": -1.5E-3}";
        assert!(document(text).is_ok());
        for len in 0..text.len() {
            assert!(document(&text[..len]).is_err(), "{len}");
        }
    }
}
