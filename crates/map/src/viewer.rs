//! The viewer: a page that shows tiles, from a folder or a web server.
//!
//! It uses Leaflet 1.9.4, which is in `viewer/leaflet` with its licence; nothing is loaded from
//! elsewhere.

/// The files of the viewer, by their path in the folder of a map.
pub const VIEWER_FILES: &[(&str, &[u8])] = &[
    ("index.html", include_bytes!("../viewer/index.html")),
    ("viewer.css", include_bytes!("../viewer/viewer.css")),
    ("data.js", include_bytes!("../viewer/data.js")),
    ("selection.js", include_bytes!("../viewer/selection.js")),
    ("layers.js", include_bytes!("../viewer/layers.js")),
    ("viewer.js", include_bytes!("../viewer/viewer.js")),
    ("leaflet/leaflet.js", include_bytes!("../viewer/leaflet/leaflet.js")),
    ("leaflet/leaflet.css", include_bytes!("../viewer/leaflet/leaflet.css")),
    ("leaflet/LICENSE", include_bytes!("../viewer/leaflet/LICENSE")),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str) -> &'static str {
        let (_, bytes) = VIEWER_FILES.iter().find(|(known, _)| *known == name).unwrap();
        std::str::from_utf8(bytes).unwrap()
    }

    #[test]
    fn leaflet_is_the_version_that_is_named() {
        let sum = |name| {
            let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            text(name).bytes().fold(0xcbf2_9ce4_8422_2325, step)
        };
        let sums = ["leaflet/leaflet.js", "leaflet/leaflet.css"].map(sum);
        assert_eq!(sums, [LEAFLET_JS, LEAFLET_CSS], "{sums:#x?}");
        assert!(text("leaflet/leaflet.js").contains("Leaflet 1.9.4"));
        assert!(text("leaflet/LICENSE").contains("Redistribution"));
    }

    /// FNV-1a of the vendored files.
    const LEAFLET_JS: u64 = 0x1a8e_c4cb_76ab_5887;
    const LEAFLET_CSS: u64 = 0xe001_50b3_4a22_62fe;

    #[test]
    fn the_page_loads_nothing_from_elsewhere() {
        let own = VIEWER_FILES.iter().filter(|(name, _)| !name.starts_with("leaflet/"));
        for (name, bytes) in own {
            let text = std::str::from_utf8(bytes).unwrap();
            assert!(!text.contains("http:") && !text.contains("https:"), "{name}");
        }
        for part in ["src=\"", "href=\""] {
            for found in text("index.html").split(part).skip(1) {
                let path = found.split('"').next().unwrap();
                let is_known = VIEWER_FILES.iter().any(|(known, _)| *known == path);
                assert!(is_known || path == "map.js" || path == "data:,", "{path}");
            }
        }
    }
}
