//! Parses JSON text into a document. As lenient as the game: accepts any white space, any order of
//! members in a binary value, and `NaN` and `Infinity`.

use super::super::{Document, Kind, Value};
use super::base64;
use crate::limits::DEPTH_MAX;

/// A JSON syntax error with its location.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct JsonError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The reason.
    pub reason: &'static str,
}

type Result<T> = std::result::Result<T, JsonError>;

const TOO_DEEP: &str = "nested too deeply";

pub(super) fn document(text: &str, values_max: u32) -> Result<Document> {
    let mut parser = Parser { text, rest: text, values_left: values_max };
    parser.skip_space();
    if !parser.rest.starts_with('{') {
        return Err(parser.error("expected an object"));
    }
    let start = parser.rest;
    let Value::Document(document) = parser.object(DEPTH_MAX.saturating_add(1))? else {
        return Err(parser.error_at(start, "expected a document, not another value"));
    };
    if parser.rest.is_empty() { Ok(document) } else { Err(parser.error("text after the object")) }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    /// How many values may follow.
    values_left: u32,
}

impl<'a> Parser<'a> {
    fn error(&self, reason: &'static str) -> JsonError {
        self.error_at(self.rest, reason)
    }

    /// Returns an error at the start of `rest`. Lines are counted only here, because that scans all
    /// text before it.
    fn error_at(&self, rest: &'a str, reason: &'static str) -> JsonError {
        let at = self.text.len().saturating_sub(rest.len());
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count().saturating_add(1);
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        JsonError { line, column: column.saturating_add(1), reason }
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    /// If `token` is next, skips it and the white space after it, and returns true.
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

    /// Parses a value. `depth_left` is the number of bracket levels that may follow. The last level
    /// is only for objects that stand for another type, because the innermost document can contain
    /// one.
    fn value(&mut self, depth_left: u32) -> Result<Value> {
        let left = self.values_left.checked_sub(1);
        self.values_left = left.ok_or_else(|| self.error("too many values"))?;
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
            Some('{') => self.object(depth_left),
            Some('[') => self.array(depth_left),
            Some('-' | '0'..='9') => self.number(),
            _ => Err(self.error("expected a value")),
        }
    }

    fn deeper(&self, depth_left: u32) -> Result<u32> {
        depth_left.checked_sub(1).ok_or_else(|| self.error(TOO_DEEP))
    }

    fn object(&mut self, depth_left: u32) -> Result<Value> {
        let start = self.rest;
        let deeper = self.deeper(depth_left)?;
        let document = self.members(deeper)?;
        match extended(&document, deeper) {
            Extended::Plain if deeper > 0 => Ok(Value::Document(document)),
            Extended::Plain => Err(self.error_at(start, TOO_DEEP)),
            Extended::Value(value) => Ok(value),
            Extended::Invalid => Err(self.error_at(start, "an invalid $ object")),
        }
    }

    /// Parses an object with its brackets.
    fn members(&mut self, depth_left: u32) -> Result<Document> {
        let mut document = Document::new();
        self.take("{");
        while !self.take("}") {
            if document.fields().len() > 0 && !self.take(",") {
                return Err(self.error("expected , or }"));
            }
            let start = self.rest;
            if !start.starts_with('"') {
                return Err(self.error("expected a name"));
            }
            let key = self.string()?;
            if key.contains('\0') {
                // BSON keys end at a zero.
                return Err(self.error_at(start, "a name that contains a zero"));
            }
            if !self.take(":") {
                return Err(self.error("expected :"));
            }
            let value = self.value(depth_left)?;
            document.push(key, value);
        }
        // A vector has room for four fields at first, which is most of the memory of small objects.
        document.shrink();
        Ok(document)
    }

    fn array(&mut self, depth_left: u32) -> Result<Value> {
        let deeper = self.deeper(depth_left)?;
        if deeper == 0 {
            return Err(self.error(TOO_DEEP));
        }
        let mut values = Vec::new();
        self.take("[");
        while !self.take("]") {
            if !values.is_empty() && !self.take(",") {
                return Err(self.error("expected , or ]"));
            }
            values.push(self.value(deeper)?);
        }
        values.shrink_to_fit();
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
                Err(_) => return Err(self.error("expected a number")),
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
            let end = end.ok_or_else(|| self.error("an unterminated string"))?;
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
            _ => return Err(self.error("an unknown escape")),
        };
        self.rest = characters.as_str();
        Ok(escaped)
    }

    /// Parses `\uXXXX`, or two of them for characters that need two UTF-16 units.
    fn unicode(&mut self) -> Result<char> {
        let mut units = Vec::new();
        for _ in 0..2 {
            let digits = self.rest.strip_prefix("\\u").and_then(|rest| rest.get(..4));
            let Some(unit) = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) else {
                return Err(self.error("expected \\u and four digits"));
            };
            self.rest = self.rest.get(6..).unwrap_or_default();
            units.push(unit);
            if let Some(Ok(character)) = char::decode_utf16(units.iter().copied()).next() {
                return Ok(character);
            }
        }
        Err(self.error("an unpaired surrogate"))
    }
}

/// The meaning of an object.
enum Extended {
    /// A plain document.
    Plain,
    /// A value that plain JSON cannot express.
    Value(Value),
    /// An object with the keys of such a value but invalid contents.
    Invalid,
}

/// Returns whether a document, written as an object, would be parsed as another value.
pub(super) fn is_ambiguous(document: &Document) -> bool {
    !matches!(extended(document, DEPTH_MAX), Extended::Plain)
}

/// Returns the meaning of a document. `depth_left` limits the nesting of documents in it.
fn extended(document: &Document, depth_left: u32) -> Extended {
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
        "$numberLong" if document.fields().len() == 1 => {
            text(first).and_then(|digits| digits.parse().ok()).map(Value::Int64)
        }
        "$numberLong" => None,
        super::OTHER_KEY => {
            let kind = match document.get(super::OTHER_KEY) {
                Some(Value::Int32(kind)) => u8::try_from(*kind).ok().map(Kind),
                _ => None,
            };
            let bytes = text("$base64").and_then(base64::decode);
            kind.zip(bytes).and_then(|(kind, bytes)| Value::from_stored(kind, &bytes, depth_left))
        }
        // Another key that happens to start with `$`.
        _ => return Extended::Plain,
    };
    value.map_or(Extended::Invalid, Extended::Value)
}

#[cfg(test)]
mod tests;
