//! Parses areas, such as `block:0,0..100,50` and `near:spawn:500`.

use super::area::{Area, Unit};
use super::error::SelectError;
use super::glob::Glob;
use super::lists::around;
use super::parse::Parser;
use super::{BORDER_MAX, Landmark};

/// A part of an area between two colons, with its position in the text.
struct Part {
    text: String,
    at: (usize, usize),
}

/// Parses an area after its name. `start` is where the name starts.
pub(super) fn parse(
    parser: &mut Parser<'_>,
    name: &str,
    start: usize,
) -> Result<Area, SelectError> {
    let parts = parts(parser)?;
    let whole = (start, parser.at());
    let wrong =
        |expected: &str| Err(parser.error_at(whole, format!("a wrong area; expected {expected}")));
    match (name, parts.as_slice()) {
        ("block" | "chunk" | "region", [corners]) => rect(parser, unit(name), corners),
        ("block" | "chunk" | "region", _) => {
            wrong(&format!("{name}:X,Z or {name}:X,Z..X,Z, such as {name}:-3,0..5,7"))
        }
        ("square" | "circle", [in_unit, center, radius])
            if ["block", "chunk", "region"].contains(&in_unit.text.as_str()) =>
        {
            let ((x, z), unit) = (position(parser, center)?, unit(&in_unit.text));
            let radius = number(parser, radius, u32::MAX.into())?;
            Ok(if name == "circle" {
                Area::Circle { unit, center: (x, z), radius }
            } else {
                Area::Rect { unit, x: (x - radius, x + radius), z: (z - radius, z + radius) }
            })
        }
        ("square" | "circle", _) => {
            wrong(&format!("{name}:UNIT:X,Z:RADIUS, such as {name}:block:0,0:500"))
        }
        ("border", [distance]) => {
            let distance = number(parser, distance, BORDER_MAX.into())?;
            Ok(Area::Border(u32::try_from(distance).unwrap_or(BORDER_MAX)))
        }
        ("near", [what]) => near(parser, what, 0),
        ("near", [what, radius]) => {
            let radius = number(parser, radius, u32::MAX.into())?;
            near(parser, what, radius)
        }
        ("near", _) => {
            wrong("near:spawn:RADIUS, near:player=NAME:RADIUS or near:marker=NAME:RADIUS")
        }
        _ => wrong("border:DISTANCE, such as border:2"),
    }
}

fn unit(name: &str) -> Unit {
    match name {
        "block" => Unit::Block,
        "chunk" => Unit::Chunk,
        _ => Unit::Region,
    }
}

/// Reads the parts after the name: `:TEXT`, until a space or a parenthesis. Quotes may enclose
/// spaces and colons, as in `near:player="A B":5`.
fn parts(parser: &mut Parser<'_>) -> Result<Vec<Part>, SelectError> {
    let mut parts = Vec::new();
    while parser.rest().starts_with(':') {
        parser.take(":");
        let start = parser.at();
        let is_plain = |c: char| !c.is_whitespace() && !"()\":".contains(c);
        let mut text = parser.take_while(is_plain).to_owned();
        if parser.rest().starts_with('"') {
            text.push_str(&parser.value("a name")?);
        }
        parts.push(Part { text, at: (start, parser.at()) });
    }
    Ok(parts)
}

fn rect(parser: &Parser<'_>, unit: Unit, corners: &Part) -> Result<Area, SelectError> {
    let (first, second) = match corners.text.split_once("..") {
        None => (position(parser, corners)?, position(parser, corners)?),
        Some((first, second)) => {
            let (start, end) = corners.at;
            let middle = start.saturating_add(first.len());
            let part = |text: &str, at| Part { text: text.to_owned(), at };
            let second = part(second, (middle.saturating_add(2), end));
            (position(parser, &part(first, (start, middle)))?, position(parser, &second)?)
        }
    };
    let span = |a: i64, b: i64| (a.min(b), a.max(b));
    Ok(Area::Rect { unit, x: span(first.0, second.0), z: span(first.1, second.1) })
}

/// Parses `X,Z`.
fn position(parser: &Parser<'_>, part: &Part) -> Result<(i64, i64), SelectError> {
    let parsed = part.text.split_once(',').and_then(|(x, z)| {
        let coordinate = |text: &str| text.trim().parse::<i32>().ok().map(i64::from);
        coordinate(x).zip(coordinate(z))
    });
    parsed.ok_or_else(|| {
        let reason = format!("`{}` is not a position; expected X,Z, such as 3,-2", part.text);
        parser.error_at(part.at, reason)
    })
}

fn number(parser: &Parser<'_>, part: &Part, max: i64) -> Result<i64, SelectError> {
    let parsed = part.text.parse::<i64>().ok().filter(|number| (0..=max).contains(number));
    parsed.ok_or_else(|| {
        let reason = format!("`{}` is not a number from 0 to {max}", part.text);
        parser.error_at(part.at, reason)
    })
}

fn near(parser: &Parser<'_>, what: &Part, radius: i64) -> Result<Area, SelectError> {
    let (kind, name) = match what.text.split_once('=') {
        None => (what.text.as_str(), None),
        Some((kind, name)) => (kind, Some(name)),
    };
    let landmark = match (kind, name) {
        ("spawn", None) => Landmark::Spawn,
        ("player", name) => Landmark::Players(name.map(str::to_owned)),
        ("respawn", None) => Landmark::Respawn,
        ("marker", name) => Landmark::Markers(Glob::new(name.unwrap_or("*"))),
        _ => {
            let expected = "expected spawn, player, player=NAME, respawn or marker=NAME";
            let reason = format!("`{}` is not known; {expected}", what.text);
            return Err(parser.error_at(what.at, reason));
        }
    };
    at_landmark(parser, &landmark, radius, what.at)
}

/// Returns the area around the positions that the world knows.
pub(super) fn at_landmark(
    parser: &Parser<'_>,
    landmark: &Landmark,
    radius: i64,
    at: (usize, usize),
) -> Result<Area, SelectError> {
    let found = parser.context.positions_of(landmark);
    let positions = found.map_err(|reason| parser.error_at(at, reason))?;
    Ok(around(&positions, radius))
}
