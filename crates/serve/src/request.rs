//! [`Request`]: what a client asks for, checked. No other module parses the paths of requests.

use hyper::{Method, Uri};
use hyworld_coords::{BlockPos, ChunkPos};
use hyworld_map::{TilePos, VIEWER_FILES};

/// The maximum length of a path with its query.
const PATH_BYTES_MAX: usize = 512;

/// A request that can be answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    /// A file of the viewer, by its number.
    Viewer(usize),
    /// The list of worlds.
    List,
    /// What the viewer shows of a world, by the name of its files.
    World(String),
    /// A tile of a world and a layer; the names are not checked.
    Tile {
        world: String,
        layer: String,
        at: TilePos,
    },
    /// A stream of changes of the world.
    Events,
    Info,
    Chunk(ChunkPos),
    Block(BlockPos),
    Metrics,
}

/// Why a request is refused: the status, and the reason as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refusal(pub(crate) u16, pub(crate) &'static str);

impl Request {
    /// Parses a request.
    pub(crate) fn parse(method: &Method, uri: &Uri) -> Result<Self, Refusal> {
        if method != Method::GET && method != Method::HEAD {
            return Err(Refusal(405, "only GET and HEAD are possible"));
        }
        let path = uri.path();
        let query = uri.query().unwrap_or_default();
        if path.len().saturating_add(query.len()) > PATH_BYTES_MAX {
            return Err(Refusal(414, "the path is too long"));
        }
        let unknown = Refusal(404, "nothing is here");
        let parts: Vec<&str> = path.strip_prefix('/').ok_or(unknown.clone())?.split('/').collect();
        match parts.as_slice() {
            [""] => Ok(Self::Viewer(0)),
            ["map.js"] => Ok(Self::List),
            ["worlds", file] => {
                let id = file.strip_suffix(".js").ok_or(unknown)?;
                Ok(Self::World(id.to_owned()))
            }
            ["tiles", world, layer, level, x, file] => {
                let (z, _ending) = file.split_once('.').ok_or(unknown.clone())?;
                let tile = level.parse().ok().zip(number(x)).zip(number(z));
                let ((level, x), z) = tile.ok_or(unknown)?;
                let at = TilePos::new(level, x, z);
                Ok(Self::Tile { world: (*world).to_owned(), layer: (*layer).to_owned(), at })
            }
            ["events"] => Ok(Self::Events),
            ["metrics"] => Ok(Self::Metrics),
            ["api", "v1", "info"] => Ok(Self::Info),
            ["api", "v1", "chunk"] => {
                let [x, z] = numbers(query, ["x", "z"])?;
                Ok(Self::Chunk(ChunkPos::new(x, z)))
            }
            ["api", "v1", "block"] => {
                let [x, y, z] = numbers(query, ["x", "y", "z"])?;
                let at = BlockPos::new(x, y, z);
                at.in_chunk().ok_or(Refusal(400, "y must be from 0 to 319"))?;
                Ok(Self::Block(at))
            }
            _ => {
                let path = path.trim_start_matches('/');
                let file = VIEWER_FILES.iter().position(|(name, _)| *name == path);
                file.map(Self::Viewer).ok_or(unknown)
            }
        }
    }
}

/// Parses digits with an optional minus sign.
fn number(text: &str) -> Option<i32> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// Returns the numbers of a query, each of which must occur once.
fn numbers<const N: usize>(query: &str, names: [&str; N]) -> Result<[i32; N], Refusal> {
    let bad = Refusal(400, "the query needs whole numbers, such as x=1&z=-2");
    let mut found = [None; N];
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').ok_or(bad.clone())?;
        let slot = names.iter().position(|known| *known == name).and_then(|at| found.get_mut(at));
        let slot = slot.filter(|slot| slot.is_none()).ok_or(bad.clone())?;
        *slot = Some(number(value).ok_or(bad.clone())?);
    }
    let mut numbers = [0; N];
    for (number, found) in numbers.iter_mut().zip(found) {
        *number = found.ok_or(bad.clone())?;
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(path: &str) -> Result<Request, u16> {
        let uri: Uri = path.parse().map_err(|_| 0_u16)?;
        Request::parse(&Method::GET, &uri).map_err(|Refusal(status, _)| status)
    }

    #[test]
    fn known_paths_are_parsed() {
        assert_eq!(parse("/"), Ok(Request::Viewer(0)));
        assert!(matches!(parse("/leaflet/leaflet.js?v=3"), Ok(Request::Viewer(_))));
        assert_eq!(parse("/worlds/my~20~world.js?v=1"), Ok(Request::World("my~20~world".into())));
        let tile = Request::Tile {
            world: "w".into(),
            layer: "surface".into(),
            at: TilePos::new(3, -1, 7),
        };
        assert_eq!(parse("/tiles/w/surface/3/-1/7.webp"), Ok(tile));
        assert_eq!(parse("/api/v1/chunk?z=4&x=-3"), Ok(Request::Chunk(ChunkPos::new(-3, 4))));
        let block = Request::Block(BlockPos::new(1, 2, 3));
        assert_eq!(parse("/api/v1/block?x=1&y=2&z=3"), Ok(block));
    }

    #[test]
    fn other_paths_are_refused() {
        for path in [
            "/..",
            "/../etc/passwd",
            "/tiles/../../etc/passwd",
            "/%2e%2e/secret",
            "//",
            "/tiles",
            "/tiles/w/s/1/2",
            "/tiles/w/s/256/0/0.webp",
            "/tiles/w/s/0/99999999999/0.webp",
            "/tiles/w/s/0/+1/0.webp",
            "/tiles/w/s/-1/0/0.webp",
            "/tiles/w/s/0/0/0",
            "/worlds/w",
            "/api/v1",
            "/api/v2/info",
            "/state/w.json",
            "/index.html/x",
        ] {
            assert_eq!(parse(path), Err(404), "{path}");
        }
        for path in [
            "/api/v1/chunk",
            "/api/v1/chunk?x=1",
            "/api/v1/chunk?x=1&z=2&z=3",
            "/api/v1/chunk?x=1&z=1e3",
            "/api/v1/chunk?x=1&z=2147483648",
            "/api/v1/block?x=1&y=2",
            "/api/v1/block?x=1&y=320&z=3",
            "/api/v1/block?x=1&y=-1&z=3",
            "/api/v1/chunk?x&z",
        ] {
            assert_eq!(parse(path), Err(400), "{path}");
        }
        assert_eq!(parse(&format!("/{}", "a".repeat(600))), Err(414));
        let post = Request::parse(&Method::POST, &"/".parse().unwrap());
        assert_eq!(post, Err(Refusal(405, "only GET and HEAD are possible")));
    }
}
