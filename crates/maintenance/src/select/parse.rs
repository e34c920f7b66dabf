//! Parses the text of a selection: AND, OR, NOT, groups, and what they combine.

use super::area::Area;
use super::condition::Condition;
use super::error::SelectError;
use super::{Node, SelectContext, TEXT_BYTES_MAX, area_text, keys, test_text};

/// The maximum depth of groups and negations.
const DEPTH_MAX: u32 = 64;

/// Parses a whole text.
pub(super) fn parse(text: &str, context: &dyn SelectContext) -> Result<Node, SelectError> {
    if text.len() > TEXT_BYTES_MAX {
        let reason = format!("a selection has up to {TEXT_BYTES_MAX} bytes; use a list, @FILE");
        return Err(SelectError::new("", (0, 0), reason));
    }
    let mut parser = Parser { text, at: 0, depth: 0, context };
    let node = parser.selection()?;
    match parser.next_token() {
        "" => Ok(node),
        ")" => Err(parser.error("`)` without `(`")),
        other => Err(parser.error(format!("unexpected `{other}`; expected AND, OR or the end"))),
    }
}

/// The text and the position in it.
pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    pub(super) context: &'a dyn SelectContext,
}

impl<'a> Parser<'a> {
    fn selection(&mut self) -> Result<Node, SelectError> {
        let mut terms = vec![self.conjunction()?];
        while self.take_word("or") {
            terms.push(self.conjunction()?);
        }
        Ok(one_or(terms, Node::Or))
    }

    fn conjunction(&mut self) -> Result<Node, SelectError> {
        let mut terms = vec![self.negation()?];
        while self.take_word("and") {
            terms.push(self.negation()?);
        }
        Ok(one_or(terms, Node::And))
    }

    fn negation(&mut self) -> Result<Node, SelectError> {
        let mut is_negated = false;
        while self.take("!") || self.take_word("not") {
            is_negated = !is_negated;
        }
        let node = self.atom()?;
        Ok(if is_negated { Node::Not(Box::new(node)) } else { node })
    }

    fn atom(&mut self) -> Result<Node, SelectError> {
        if self.take("(") {
            self.depth += 1;
            if self.depth > DEPTH_MAX {
                return Err(self.error(format!("groups are nested up to {DEPTH_MAX} times")));
            }
            let node = self.selection()?;
            if !self.take(")") {
                return Err(self.error("expected `)`, AND or OR"));
            }
            self.depth -= 1;
            return Ok(node);
        }
        if self.take("@") {
            let start = self.at - 1;
            let path = self.value("a file after `@`")?;
            return self.file(&path, (start, self.at)).map(Node::Area);
        }
        let start = self.skip_spaces();
        let name = self.take_while(|c| c.is_alphanumeric() || c == '_' || c == '#');
        match name.to_ascii_lowercase().as_str() {
            "" => Err(self.error("expected an area, a test, `(`, NOT or @FILE")),
            "and" | "or" => {
                let reason = format!("`{name}` without something before it");
                Err(self.error_at((start, self.at), reason))
            }
            lower if self.rest().starts_with(':') && keys::AREAS.contains(&lower) => {
                area_text::parse(self, lower, start).map(Node::Area)
            }
            _ if self.rest().starts_with(':') => {
                let reason = format!("unknown area `{name}`; expected {}", keys::AREAS.join(", "));
                Err(self.error_at((start, self.at), reason))
            }
            _ => test_text::parse(self, name, start),
        }
    }

    /// Reads a list of chunks from a file.
    pub(super) fn file(&self, path: &str, at: (usize, usize)) -> Result<Area, SelectError> {
        let text = self.context.read_file(path);
        let area = text.and_then(|text| super::lists::parse(&text));
        area.map_err(|reason| self.error_at(at, format!("{path}: {reason}")))
    }

    /// Reads a value: up to the next space or parenthesis, or in double quotes.
    pub(super) fn value(&mut self, expected: &str) -> Result<String, SelectError> {
        let start = self.skip_spaces();
        if !self.rest().starts_with('"') {
            let value = self.take_while(|c| !c.is_whitespace() && !"()\"".contains(c));
            if value.is_empty() {
                return Err(self.error(format!("expected {expected}")));
            }
            return Ok(value.to_owned());
        }
        self.at += 1;
        let mut value = String::new();
        let mut is_escaped = false;
        for c in self.rest().chars() {
            self.at += c.len_utf8();
            match c {
                '\\' if !is_escaped => is_escaped = true,
                '"' if !is_escaped => return Ok(value),
                _ => {
                    // A backslash stands for itself, as in paths, except before a quote.
                    if is_escaped && c != '"' {
                        value.push('\\');
                    }
                    value.push(c);
                    is_escaped = false;
                }
            }
        }
        Err(self.error_at((start, start + 1), "a quote without an end"))
    }

    /// Returns the text that is not parsed yet.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the number of bytes that were parsed.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Skips spaces and returns the position after them.
    pub(super) fn skip_spaces(&mut self) -> usize {
        self.take_while(char::is_whitespace);
        self.at
    }

    pub(super) fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// Skips spaces, then this sign if it is next. Returns whether the sign was next.
    pub(super) fn take(&mut self, sign: &str) -> bool {
        self.skip_spaces();
        let is_next = self.rest().starts_with(sign);
        if is_next {
            self.at += sign.len();
        }
        is_next
    }

    /// Skips spaces, then this word if it is next, in upper or lower case. Returns whether the word
    /// was next.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        self.skip_spaces();
        let rest = self.rest();
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let is_next = rest.get(..word.len()).is_some_and(|next| next.eq_ignore_ascii_case(word))
            && !rest.get(word.len()..).is_some_and(|after| after.starts_with(is_word));
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    /// Skips spaces and returns the next word or sign without consuming it.
    fn next_token(&mut self) -> &'a str {
        self.skip_spaces();
        let rest = self.rest();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = match rest.chars().next() {
            Some(c) if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            Some(c) => c.len_utf8(),
            None => 0,
        };
        rest.get(..end).unwrap_or_default()
    }

    /// Returns an error about the next word or sign.
    pub(super) fn error(&mut self, reason: impl Into<String>) -> SelectError {
        let next = self.next_token().len();
        self.error_at((self.at, self.at.saturating_add(next)), reason)
    }

    pub(super) fn error_at(&self, at: (usize, usize), reason: impl Into<String>) -> SelectError {
        SelectError::new(self.text, at, reason)
    }
}

/// Returns the only node, or all of them combined.
fn one_or(mut nodes: Vec<Node>, combine: impl Fn(Vec<Node>) -> Node) -> Node {
    match nodes.pop() {
        Some(only) if nodes.is_empty() => only,
        Some(last) => {
            nodes.push(last);
            combine(nodes)
        }
        None => combine(nodes),
    }
}

impl From<Condition> for Node {
    fn from(condition: Condition) -> Self {
        Self::Test(condition)
    }
}
