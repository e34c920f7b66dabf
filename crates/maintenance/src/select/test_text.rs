//! Parses tests, such as `block has any Ore_*` and `changes > 10`.

use super::area::{Area, Unit};
use super::compare::Compare;
use super::condition::{Condition, Flag, Names, Quantity};
use super::error::SelectError;
use super::glob::Glob;
use super::keys::{self, Key};
use super::parse::Parser;
use super::{BORDER_MAX, Landmark, Node, area_text};

/// The maximum number of patterns in a list.
const PATTERNS_MAX: usize = 10_000;

/// The operators that are signs, longest first.
const SIGNS: [&str; 9] = ["!=", "!~", "<=", ">=", "==", "=", "<", ">", "~"];

/// Suffixes of numbers, in lower case.
const SUFFIXES: [(&str, i64); 8] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("k", 1_000),
    ("m", 1_000_000),
    ("b", 1),
    ("", 1),
];

/// Parses a test after its name. `start` is where the name starts.
pub(super) fn parse(
    parser: &mut Parser<'_>,
    name: &str,
    start: usize,
) -> Result<Node, SelectError> {
    let key = keys::find(name);
    let key = key.map_err(|reason| parser.error_at((start, parser.at()), reason))?;
    if let Key::Names(names) | Key::Either(names, _) = key
        && parser.rest().starts_with('[')
    {
        return count(parser, names).map(Node::from);
    }
    let operator_at = parser.skip_spaces();
    let operator = operator(parser);
    let span = (operator_at, parser.at());
    match (key, operator) {
        (Key::Names(names), operator) => names_test(parser, name, names, operator, span),
        (Key::Either(names, number), operator) => match operator {
            None | Some("=" | "!=" | "<" | "<=" | ">" | ">=") => {
                let compare = compare(parser, operator, span)?;
                Ok(Condition::Number { number, compare }.into())
            }
            _ => names_test(parser, name, names, operator, span),
        },
        (Key::Number(number), operator) => {
            let compare = compare(parser, operator, span)?;
            Ok(Condition::Number { number, compare }.into())
        }
        (Key::Flag(flag), operator) => flag_test(parser, flag, operator, span).map(Node::from),
        (Key::X | Key::Z, Some(_)) => {
            let (is_x, compare) = (key == Key::X, compare(parser, operator, span)?);
            Ok(Node::Area(Area::Axis { is_x, compare }))
        }
        (Key::X | Key::Z, None) => {
            Err(parser.error(format!("expected a comparison, such as {name} >= 10")))
        }
        _ => mca_test(parser, key, operator, (start, span.1)).map(Node::Area),
    }
}

/// Consumes the next operator, if there is one.
fn operator(parser: &mut Parser<'_>) -> Option<&'static str> {
    for word in ["!contains", "contains", "!intersects", "intersects", "has"] {
        if parser.take_word(word) {
            return Some(word);
        }
    }
    let sign = SIGNS.into_iter().find(|sign| parser.take(sign))?;
    Some(if sign == "==" { "=" } else { sign })
}

fn names_test(
    parser: &mut Parser<'_>,
    name: &str,
    names: Names,
    operator: Option<&'static str>,
    span: (usize, usize),
) -> Result<Node, SelectError> {
    let quantity = match operator {
        None => {
            let globs = vec![Glob::new("*")];
            return Ok(Condition::Names { names, quantity: Quantity::Any, globs }.into());
        }
        Some("=" | "~" | "intersects") => Quantity::Any,
        Some("!=" | "!~" | "!intersects") => Quantity::None,
        Some("contains") => Quantity::All,
        Some("!contains") => Quantity::NotAll,
        Some("has") if parser.take_word("any") => Quantity::Any,
        Some("has") if parser.take_word("all") => Quantity::All,
        Some("has") if parser.take_word("none") => Quantity::None,
        Some("has") => return Err(parser.error("expected any, all or none after `has`")),
        Some(other) => {
            let reason = format!("`{other}` compares numbers; use {name}[NAME] {other} 10");
            return Err(parser.error_at(span, reason));
        }
    };
    let globs = patterns(parser)?;
    Ok(Condition::Names { names, quantity, globs }.into())
}

/// Parses a list of patterns, separated by commas.
fn patterns(parser: &mut Parser<'_>) -> Result<Vec<Glob>, SelectError> {
    let start = parser.skip_spaces();
    let value = parser.value("a name, such as Rock_* or \"a,b\"")?;
    // MCA Selector encloses names that it does not know in single quotes.
    let names = value.split(',').map(|name| name.trim().trim_matches('\''));
    let globs: Vec<Glob> = names.filter(|name| !name.is_empty()).map(Glob::new).collect();
    if globs.is_empty() || globs.len() > PATTERNS_MAX {
        let reason = format!("expected 1 to {PATTERNS_MAX} names, separated by commas");
        return Err(parser.error_at((start, parser.at()), reason));
    }
    Ok(globs)
}

/// Parses `[NAME] > 10`.
fn count(parser: &mut Parser<'_>, names: Names) -> Result<Condition, SelectError> {
    let start = parser.at();
    parser.take("[");
    let text = parser.take_while(|c| c != ']').trim().trim_matches('"');
    if text.is_empty() || !parser.take("]") {
        return Err(parser.error_at((start, parser.at()), "expected a name in [ ]"));
    }
    let operator_at = parser.skip_spaces();
    let operator = operator(parser);
    let compare = compare(parser, operator, (operator_at, parser.at()))?;
    Ok(Condition::Count { names, glob: Glob::new(text), compare })
}

/// Parses the number after an operator. No operator means more than 0.
fn compare(
    parser: &mut Parser<'_>,
    operator: Option<&'static str>,
    span: (usize, usize),
) -> Result<Compare, SelectError> {
    let Some(operator) = operator else { return Ok(Compare::some()) };
    if Compare::parse(operator, 0).is_none() {
        let reason = format!("`{operator}` compares names; expected =, !=, <, <=, > or >=");
        return Err(parser.error_at(span, reason));
    }
    let number = number(parser)?;
    Compare::parse(operator, number).ok_or_else(|| parser.error_at(span, "not an operator"))
}

fn number(parser: &mut Parser<'_>) -> Result<i64, SelectError> {
    let start = parser.skip_spaces();
    let value = parser.value("a number")?;
    let lower = value.trim().to_ascii_lowercase();
    let parsed = SUFFIXES.iter().find_map(|(suffix, factor)| {
        let digits = lower.strip_suffix(suffix)?;
        digits.trim().parse::<i64>().ok()?.checked_mul(*factor)
    });
    parsed.ok_or_else(|| {
        let reason = format!("`{value}` is not a number; expected one such as 10, -3 or 64k");
        parser.error_at((start, parser.at()), reason)
    })
}

fn flag_test(
    parser: &mut Parser<'_>,
    flag: Flag,
    operator: Option<&'static str>,
    span: (usize, usize),
) -> Result<Condition, SelectError> {
    let is_equal = match operator {
        None => return Ok(Condition::Flag { flag, is_wanted: true }),
        Some("=") => true,
        Some("!=") => false,
        Some(_) => return Err(parser.error_at(span, "expected =, != or no operator")),
    };
    let start = parser.skip_spaces();
    let value = parser.value("true or false")?;
    let is_true = match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => true,
        "false" | "no" | "0" => false,
        _ => return Err(parser.error_at((start, parser.at()), "expected true or false")),
    };
    Ok(Condition::Flag { flag, is_wanted: is_true == is_equal })
}

/// Parses the tests of MCA Selector that are areas here.
fn mca_test(
    parser: &mut Parser<'_>,
    key: Key,
    operator: Option<&'static str>,
    span: (usize, usize),
) -> Result<Area, SelectError> {
    let instead = match (key, operator) {
        (Key::PlayerLocation, None) => {
            return area_text::at_landmark(parser, &Landmark::Players(None), 0, span);
        }
        (Key::PlayerSpawn, None) => {
            return area_text::at_landmark(parser, &Landmark::Respawn, 0, span);
        }
        (Key::Border, Some("=")) => {
            let start = parser.skip_spaces();
            let distance = u32::try_from(number(parser)?).ok();
            let distance = distance.filter(|distance| *distance <= BORDER_MAX);
            let reason = format!("expected a number from 0 to {BORDER_MAX}");
            return distance
                .map(Area::Border)
                .ok_or_else(|| parser.error_at((start, parser.at()), reason));
        }
        (Key::File, Some("=" | "contains" | "intersects")) => {
            let start = parser.skip_spaces();
            let path = parser.value("a file")?;
            return parser.file(&path, (start, parser.at()));
        }
        (Key::Circle, Some("=" | "contains" | "intersects")) => return circle(parser),
        (Key::PlayerLocation, _) => "near:player=NAME:RADIUS",
        (Key::PlayerSpawn, _) => "near:respawn:RADIUS",
        (Key::Border, _) => "border:DISTANCE, such as border:2",
        (Key::Circle, _) => "circle:chunk:X,Z:RADIUS",
        _ => "@FILE",
    };
    Err(parser.error_at(span, format!("expected {instead}")))
}

/// Parses `X,Z,RADIUS` in chunks.
fn circle(parser: &mut Parser<'_>) -> Result<Area, SelectError> {
    let start = parser.skip_spaces();
    let value = parser.value("X,Z,RADIUS")?;
    let numbers: Result<Vec<i32>, _> =
        value.split([',', ';']).map(|number| number.trim().parse()).collect();
    match numbers.as_deref() {
        Ok([x, z, radius]) if *radius >= 0 => Ok(Area::Circle {
            unit: Unit::Chunk,
            center: ((*x).into(), (*z).into()),
            radius: (*radius).into(),
        }),
        _ => {
            let reason = "expected X,Z,RADIUS in chunks, such as \"0,0,30\"";
            Err(parser.error_at((start, parser.at()), reason))
        }
    }
}
