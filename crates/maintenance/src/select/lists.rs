//! Files with chunks or areas: lists in JSON, MCA Selector's CSV, and GeoJSON.

use hyworld_coords::{ChunkPos, ChunkRect, ColumnPos, RegionPos};
use serde::Deserialize;

use super::area::{Area, Unit, Window};
use super::chunk_set::ChunkSet;
use super::polygon::Polygon;
use super::truth::Truth;

/// The maximum number of regions in a list: 268 million chunks, in 40 MB.
const REGIONS_MAX: usize = 1 << 18;

/// The maximum number of chunks of a polygon that is converted to a list. Larger polygons are
/// tested chunk by chunk.
const LISTED_CHUNKS_MAX: i64 = 1 << 14;

/// The maximum number of positions of all polygons that are tested chunk by chunk.
const CORNERS_MAX: usize = 100_000;

/// The maximum depth of collections in a GeoJSON file.
const DEPTH_MAX: u32 = 16;

/// Parses a file, in the format that its first character shows.
pub(super) fn parse(text: &str) -> Result<Area, String> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with(['{', '[']) { parse_json(text) } else { parse_csv(text) }
}

/// Parses MCA Selector's CSV: lines `regionX;regionZ` or `regionX;regionZ;chunkX;chunkZ`, after an
/// optional line `inverted`.
fn parse_csv(text: &str) -> Result<Area, String> {
    let (mut chunks, mut is_inverted) = (ChunkSet::new(), false);
    for (number, line) in (1_u64..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if number == 1 && line.eq_ignore_ascii_case("inverted") {
            is_inverted = true;
            continue;
        }
        add_line(&mut chunks, line).map_err(|reason| format!("line {number}: {reason}"))?;
        check_size(&chunks)?;
    }
    Ok(Area::List { chunks, is_inverted })
}

fn add_line(chunks: &mut ChunkSet, line: &str) -> Result<(), String> {
    let numbers: Result<Vec<i32>, _> = line.split(';').map(|part| part.trim().parse()).collect();
    match numbers.ok().as_deref() {
        Some(&[x, z]) => chunks.insert_region(RegionPos::new(x, z)),
        Some(&[x, z, chunk_x, chunk_z]) => {
            let at = ChunkPos::new(chunk_x, chunk_z);
            if at.region() != RegionPos::new(x, z) {
                return Err(format!("chunk {chunk_x},{chunk_z} is not in region {x},{z}"));
            }
            chunks.insert(at);
        }
        _ => return Err("expected regionX;regionZ or regionX;regionZ;chunkX;chunkZ".to_owned()),
    }
    Ok(())
}

fn check_size(chunks: &ChunkSet) -> Result<(), String> {
    if chunks.region_count() > REGIONS_MAX {
        return Err(format!("more than {REGIONS_MAX} regions"));
    }
    Ok(())
}

/// A list of chunks, or an object of GeoJSON.
#[derive(Deserialize)]
struct Object {
    positions: Option<Vec<Position>>,
    #[serde(rename = "type")]
    kind: Option<String>,
    features: Option<Vec<Object>>,
    geometries: Option<Vec<Object>>,
    geometry: Option<Box<Object>>,
    coordinates: Option<Coordinates>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Position {
    Members { x: i32, z: i32 },
    Pair(i32, i32),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Coordinates {
    Number(f64),
    List(Vec<Coordinates>),
}

fn parse_json(text: &str) -> Result<Area, String> {
    let reason = |error: serde_json::Error| format!("not a list of chunks or GeoJSON: {error}");
    if text.starts_with('[') {
        return listed(&serde_json::from_str::<Vec<Position>>(text).map_err(reason)?);
    }
    let object: Object = serde_json::from_str(text).map_err(reason)?;
    if let Some(positions) = &object.positions {
        return listed(positions);
    }
    let mut shapes = Shapes::default();
    shapes.add(&object, DEPTH_MAX)?;
    shapes.area()
}

fn listed(positions: &[Position]) -> Result<Area, String> {
    let mut chunks = ChunkSet::new();
    for position in positions {
        let (Position::Members { x, z } | Position::Pair(x, z)) = position;
        chunks.insert(ChunkPos::new(*x, *z));
    }
    check_size(&chunks)?;
    Ok(Area::List { chunks, is_inverted: false })
}

/// The geometries of a GeoJSON file: small ones as chunks, large ones as polygons.
#[derive(Default)]
struct Shapes {
    chunks: ChunkSet,
    polygons: Vec<Polygon>,
    corners: usize,
}

impl Shapes {
    fn add(&mut self, object: &Object, depth: u32) -> Result<(), String> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err("the collections are nested too deeply".to_owned());
        };
        let kind = object.kind.as_deref().unwrap_or_default();
        let coordinates = || match &object.coordinates {
            Some(Coordinates::List(list)) => Ok(list.as_slice()),
            _ => Err(format!("a {kind} without coordinates")),
        };
        match kind {
            "FeatureCollection" => {
                object.features.iter().flatten().try_for_each(|part| self.add(part, depth))
            }
            "GeometryCollection" => {
                object.geometries.iter().flatten().try_for_each(|part| self.add(part, depth))
            }
            // A feature without a geometry is allowed and covers nothing.
            "Feature" => object.geometry.iter().try_for_each(|part| self.add(part, depth)),
            "Polygon" => self.add_polygon(coordinates()?),
            "MultiPolygon" => coordinates()?.iter().try_for_each(|part| match part {
                Coordinates::List(rings) => self.add_polygon(rings),
                Coordinates::Number(_) => Err("a MultiPolygon without polygons".to_owned()),
            }),
            "Point" => self.add_point(coordinates()?),
            "MultiPoint" => coordinates()?.iter().try_for_each(|part| match part {
                Coordinates::List(point) => self.add_point(point),
                Coordinates::Number(_) => Err("a MultiPoint without points".to_owned()),
            }),
            "" => Err("neither `positions` nor a GeoJSON `type`".to_owned()),
            other => Err(format!("`{other}` is not an area; expected polygons or points")),
        }
    }

    fn add_point(&mut self, coordinates: &[Coordinates]) -> Result<(), String> {
        let (x, z) = point(coordinates)?;
        let outside = || "a position outside of the world".to_owned();
        self.chunks.insert(ColumnPos::from_f64(x, z).ok_or_else(outside)?.chunk());
        check_size(&self.chunks)
    }

    fn add_polygon(&mut self, rings: &[Coordinates]) -> Result<(), String> {
        let ring = |ring: &Coordinates| match ring {
            Coordinates::List(points) => points
                .iter()
                .map(|at| match at {
                    Coordinates::List(at) => point(at),
                    Coordinates::Number(_) => Err("a ring without positions".to_owned()),
                })
                .collect::<Result<Vec<_>, _>>(),
            Coordinates::Number(_) => Err("a polygon without rings".to_owned()),
        };
        let rings = rings.iter().map(ring).collect::<Result<Vec<_>, _>>()?;
        let not_finite = || "a polygon without positions".to_owned();
        let polygon = Polygon::new(rings).ok_or_else(not_finite)?;
        if self.list(&polygon) {
            return check_size(&self.chunks);
        }
        self.corners = self.corners.saturating_add(polygon.len());
        if self.corners > CORNERS_MAX {
            return Err(format!("large polygons with more than {CORNERS_MAX} positions"));
        }
        self.polygons.push(polygon);
        Ok(())
    }

    /// Adds the chunks of a small polygon to the list. Returns whether it did.
    fn list(&mut self, polygon: &Polygon) -> bool {
        let (min, max) = polygon.bounds();
        let corners = [min, max].map(|(x, z)| ColumnPos::from_f64(x, z).map(ColumnPos::chunk));
        let [Some(first), Some(last)] = corners else { return false };
        let sides =
            (i64::from(last.x) - i64::from(first.x), i64::from(last.z) - i64::from(first.z));
        // The work is limited too: each chunk is compared with each side of the polygon.
        let sides = (sides.0.saturating_add(1), sides.1.saturating_add(1));
        let chunks = sides.0.saturating_mul(sides.1);
        let corners = i64::try_from(polygon.len()).unwrap_or(i64::MAX);
        if chunks > LISTED_CHUNKS_MAX || chunks.saturating_mul(corners) > LISTED_CHUNKS_MAX * 64 {
            return false;
        }
        let area = ChunkRect::new(first, last);
        let single = Area::Polygons(vec![polygon.clone()]);
        let is_inside = |at: &ChunkPos| single.test(Window::of_chunk(*at), None) == Truth::Yes;
        self.chunks.extend(area.in_rows().filter(is_inside));
        true
    }

    fn area(self) -> Result<Area, String> {
        if self.chunks.is_empty() && self.polygons.is_empty() {
            return Err("no polygons or points".to_owned());
        }
        let chunks = Area::List { chunks: self.chunks, is_inverted: false };
        Ok(Area::Any(vec![chunks, Area::Polygons(self.polygons)]))
    }
}

/// Returns the block coordinates of a position: x and z, then optionally a height.
fn point(coordinates: &[Coordinates]) -> Result<(f64, f64), String> {
    match coordinates {
        [Coordinates::Number(x), Coordinates::Number(z), ..] => Ok((*x, *z)),
        _ => Err("a position without two numbers".to_owned()),
    }
}

/// Returns the area up to `radius` blocks around positions.
pub(super) fn around(positions: &[(f64, f64)], radius: i64) -> Area {
    let columns = positions.iter().filter_map(|(x, z)| ColumnPos::from_f64(*x, *z));
    let centers = columns.map(|column| (column.x.into(), column.z.into()));
    Area::Any(centers.map(|center| Area::Circle { unit: Unit::Block, center, radius }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(area: &Area, around: i32) -> usize {
        let all = (-around..around).flat_map(|x| (-around..around).map(move |z| (x, z)));
        let window = |(x, z)| Window::of_chunk(ChunkPos::new(x, z));
        all.filter(|at| area.test(window(*at), None) == Truth::Yes).count()
    }

    #[test]
    fn selections_of_mca_selector_are_read() {
        let area = parse("0;0\r\n-1;-1;-1;-32\r\n\r\n2;0;64;31").unwrap();
        assert_eq!(count(&area, 70), 1026);
        let inverted = parse("inverted\n0;0\n").unwrap();
        assert_eq!(count(&inverted, 40), 6400 - 1024);
        let reason = |text: &str| parse(text).unwrap_err();
        assert_eq!(reason("0;0\n0;0;32;0"), "line 2: chunk 32,0 is not in region 0,0");
        assert!(reason("0;0\n1;2;3").starts_with("line 2: expected regionX;regionZ"));
        assert!(reason("0;99999999999").starts_with("line 1: "));
    }

    #[test]
    fn lists_in_json_are_read() {
        let objects = r#"{"chunks": 2, "positions": [{"x": 1, "z": 2}, {"x": -1, "z": 5}]}"#;
        assert_eq!(count(&parse(objects).unwrap(), 10), 2);
        assert_eq!(count(&parse("[[1, 2], {\"x\": 3, \"z\": 4}]").unwrap(), 10), 2);
        for text in ["{}", "[1]", "{\"positions\": 5}", "{\"type\": \"LineString\"}", "[[1,2]"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn polygons_and_points_of_geojson_are_read() {
        let ring = "[[0,0],[320,0],[320,64],[0,64],[0,0]]";
        let polygon = format!(r#"{{"type": "Polygon", "coordinates": [{ring}]}}"#);
        assert_eq!(count(&parse(&polygon).unwrap(), 20), 20);
        let point = r#"{"type": "Point", "coordinates": [-1.5, 700.25, 64]}"#;
        let all = format!(
            r#"{{"type": "FeatureCollection", "features": [
                {{"type": "Feature", "properties": {{}}, "geometry": {polygon}}},
                {{"type": "Feature", "geometry": null}},
                {{"type": "Feature", "geometry": {{"type": "GeometryCollection",
                    "geometries": [{point}, {polygon}]}}}}]}}"#
        );
        assert_eq!(count(&parse(&all).unwrap(), 30), 21);
        let large =
            r#"{"type": "MultiPolygon", "coordinates": [[[[-1e9,-1e9],[1e9,-1e9],[0,1e9]]]]}"#;
        let large = parse(large).unwrap();
        assert!(matches!(&large, Area::Any(parts) if parts.len() == 2), "{large:?}");
        assert_eq!(count(&large, 10), 400);
    }

    #[test]
    fn deep_and_large_files_are_refused() {
        let mut deep = r#"{"type": "Point", "coordinates": [0, 0]}"#.to_owned();
        for _ in 0..20 {
            deep = format!(r#"{{"type": "GeometryCollection", "geometries": [{deep}]}}"#);
        }
        assert!(parse(&deep).unwrap_err().contains("nested too deeply"));
        let nested = format!("{{\"coordinates\": {}", "[".repeat(100_000));
        assert!(parse(&nested).is_err());
        let many = (0..=REGIONS_MAX).map(|x| format!("{x};0")).collect::<Vec<_>>().join("\n");
        assert!(parse(&many).unwrap_err().contains("regions"));
    }
}
