//! Texts, their errors, and the chunks they select by position.

use super::*;

/// A world with one spawn point, two players and three markers, and a few files.
struct World;

impl SelectContext for World {
    fn read_file(&self, path: &str) -> Result<String, String> {
        match path {
            "list.csv" => Ok("0;0;3;4\n-1;0;-1;5\n".to_owned()),
            "my list.csv" => Ok("0;0".to_owned()),
            "not.csv" => Ok("inverted\n0;0".to_owned()),
            "broken.csv" => Ok("0;0;3".to_owned()),
            _ => Err("no such file".to_owned()),
        }
    }

    fn positions_of(&self, landmark: &Landmark) -> Result<Vec<(f64, f64)>, String> {
        match landmark {
            Landmark::Spawn => Ok(vec![(0.5, -0.5)]),
            Landmark::Players(None) => Ok(vec![(100.0, 100.0), (-700.0, 3.0)]),
            Landmark::Players(Some(name)) if name == "Anna Lee" => Ok(vec![(100.0, 100.0)]),
            Landmark::Players(Some(name)) => Err(format!("no player {name}")),
            Landmark::Respawn => Ok(Vec::new()),
            Landmark::Markers(glob) => {
                let all = [("Home", (0.0, 0.0)), ("Harbour", (320.0, 0.0)), ("Mine", (9.0, 900.0))];
                let found = all.into_iter().filter(|(name, _)| glob.matches(name));
                Ok(found.map(|(_, at)| at).collect())
            }
        }
    }
}

fn parse(text: &str) -> Selection {
    Selection::parse(text, &World).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Counts the selected chunks from -64 to 63 along both axes.
fn count(text: &str) -> usize {
    let selection = parse(text);
    let all = (-64..64).flat_map(|z| (-64..64).map(move |x| ChunkPos::new(x, z)));
    all.filter(|at| selection.test_position(*at, None) == Truth::Yes).count()
}

#[test]
fn areas_lists_and_operators_select_chunks() {
    let cases = [
        ("chunk:3,-2", 1),
        ("chunk:3,-2..5,7", 30),
        ("chunk:5,7..3,-2", 30),
        ("block:0,0..63,31", 2),
        ("block:-1,-1..32,32", 9),
        ("block:31,31", 1),
        ("region:0,0", 1024),
        ("region:-1,-1..0,0", 4096),
        ("square:chunk:0,0:2", 25),
        ("square:block:16,16:16", 4),
        ("square:region:0,0:1", 96 * 96),
        ("circle:chunk:0,0:1", 5),
        ("circle:chunk:0,0:7", 149),
        ("circle:block:0,0:0", 1),
        ("circle:region:-1,-1:1", 5 * 1024),
        ("near:spawn:0", 1),
        ("near:spawn", 1),
        ("near:player", 2),
        ("near:player=\"Anna Lee\":20", 4),
        ("near:respawn:1000", 0),
        ("near:marker=h*:10", 8),
        ("near:marker:0", 3),
        ("@list.csv", 2),
        ("@\"my list.csv\"", 1024),
        ("NOT @not.csv", 1024),
        ("x >= 60", 4 * 128),
        ("x=3 and z=4", 1),
        ("xPos >= 10 AND xPos <= 20 AND zPos >= 40 AND zPos <= 50", 121),
        ("chunk:0,0 OR chunk:1,0 OR chunk:2,0 AND x < 0", 2),
        ("(chunk:0,0 OR chunk:1,0 OR chunk:2,0) AND x > 0", 2),
        ("!(x < 0) and !z<0", 4096),
        ("not not chunk:0,0", 1),
        ("!!!chunk:0,0", 128 * 128 - 1),
        ("Circle = \"0,0,1\"", 5),
        ("Selection = \"list.csv\"", 2),
        ("PlayerLocation", 2),
        ("PlayerSpawn OR chunk:9,9", 1),
        ("x != 0", 127 * 128),
        ("  chunk:0,0  ", 1),
        ("x > -65 OR block = Rock", 128 * 128),
    ];
    for (text, expected) in cases {
        assert_eq!(count(text), expected, "{text}");
    }
}

/// MCA Selector's documented keys with the operators and values that its users know.
#[test]
fn texts_of_mca_selector_parse_or_name_the_nearest_key() {
    for text in [
        "Palette contains \"sand,'new_block',gravel\"",
        "Palette intersects \"minecraft:sand\" AND xPos > 3",
        "Palette !contains \"a,b\"",
        "Biome contains plains",
        "Entities contains \"minecraft:sheep\"",
        "TileEntities intersects \"chest,sign\"",
        "#Entities > 10 OR #TileEntities >= 5",
        "!(#Entities = 0) AND (xPos < 5 OR zPos < 5)",
        "Border = 3",
    ] {
        parse(text);
    }
    for (text, nearest) in [
        ("InhabitedTime = \"5 minutes\"", "`touched`"),
        ("LastUpdate < \"2018-01-02 15:03:04\"", "`touched`"),
        ("Timestamp < 0", "`changes`"),
        ("DataVersion > 1343", "`version`"),
        ("xPos > 3 AND Status = full", "`damaged`"),
        ("LightPopulated = 1", "`changes`"),
        ("Structures contains village", "`block`"),
        ("yPos < -4", "`height`"),
    ] {
        let error = Selection::parse(text, &World).unwrap_err();
        assert!(error.reason().contains("is not available"), "{error}");
        assert!(error.reason().contains(nearest), "{error}");
    }
}

#[test]
fn errors_point_to_what_is_wrong() {
    let cases = [
        ("", "expected an area", 0),
        ("x >", "expected a number", 3),
        ("x", "expected a comparison", 1),
        ("x > three", "`three` is not a number", 4),
        ("chunk:1,2 chunk:3,4", "unexpected `chunk`; expected AND, OR", 10),
        ("chunk:1,2 und x > 3", "unexpected `und`", 10),
        ("(x > 3", "expected `)`", 6),
        ("x > 3)", "`)` without `(`", 5),
        ("AND x > 3", "`AND` without something before it", 0),
        ("x > 3 AND", "expected an area", 9),
        ("chunk", "needs a position, such as chunk:3,-2", 0),
        ("chunk:5", "`5` is not a position", 6),
        ("chunk:1,2..x,4", "`x,4` is not a position", 11),
        ("chunk:1,2,3", "`1,2,3` is not a position", 6),
        ("chunk:99999999999,0", "is not a position", 6),
        ("circle:0,0:5", "expected circle:UNIT:X,Z:RADIUS", 0),
        ("circle:block:0,0:-1", "`-1` is not a number from 0", 17),
        ("near:moon:5", "`moon` is not known; expected spawn", 5),
        ("near:player=Bob:5", "no player Bob", 5),
        ("border:99", "is not a number from 0 to 16", 7),
        ("village:3", "unknown area `village`", 0),
        ("x > 3 AND @missing.csv", "missing.csv: no such file", 10),
        ("@broken.csv", "broken.csv: line 1: expected regionX", 0),
        ("block = \"Rock", "a quote without an end", 8),
        ("block > 5", "use block[NAME] > 10", 6),
        ("block has Rock", "expected any, all or none", 10),
        ("block[ ] > 5", "expected a name in [ ]", 5),
        ("block = ,", "expected 1 to 10000 names", 8),
        ("changes ~ 5", "`~` compares names", 8),
        ("damaged = maybe", "expected true or false", 10),
        ("PlayerLocation = \"path\"", "near:player=NAME:RADIUS", 0),
        ("blok = Rock", "did you mean `block`?", 0),
    ];
    for (text, reason, at) in cases {
        let error = Selection::parse(text, &World).unwrap_err();
        assert!(error.reason().contains(reason), "{text}: {error}");
        assert_eq!(error.at(), at, "{error}");
    }
}

#[test]
fn hostile_texts_are_refused() {
    let error = |text: &str| Selection::parse(text, &World).unwrap_err().reason().to_owned();
    assert!(error(&"(".repeat(60_000)).contains("nested up to 64"));
    assert!(error(&"x".repeat(70_000)).contains("up to 65536 bytes"));
    assert!(error(&"!".repeat(60_000)).contains("expected an area"));
    assert!(error("\u{0}\u{1b}[2J").contains("expected an area"));
    let long = vec!["chunk:1,1"; 5_000].join(" or ");
    assert_eq!(count(&long), 1);
    for text in ["@", "@\"", "[", "block[", "near:", ":", "block:", "x = \"", "\u{20ac}", "#", "!@"]
    {
        assert!(Selection::parse(text, &World).is_err(), "{text}");
    }
}

#[test]
fn costs_are_those_of_the_most_expensive_test() {
    for (text, cost) in [
        ("chunk:0,0 AND x > 3", Cost::Position),
        ("size > 10k OR chunk:0,0", Cost::Index),
        ("#Entities > 0", Cost::Document),
        ("NOT block = Rock AND size > 1MiB", Cost::Palettes),
        ("(item = Sword)", Cost::Decoded),
        ("damaged", Cost::Complete),
    ] {
        assert_eq!(parse(text).cost(), cost, "{text}");
    }
    assert!(parse("border:1 OR chunk:0,0").needs_stored());
    assert!(!parse("chunk:0,0").needs_stored());
    assert_eq!(parse(" chunk:0,0 ").to_string(), "chunk:0,0");
}
