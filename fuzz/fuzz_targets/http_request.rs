//! Checks and routes arbitrary heads of requests to the live map. Pages of other sites are never
//! answered, whatever else they send.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let status = |text: &str| hyworld_serve::check_head(text, &["map.example"]);
    let Some(plain) = status(text) else { return };
    assert!([200, 400, 403, 404, 405, 414, 421].contains(&plain), "{plain}");
    if plain == 200 {
        let script = "\nSec-Fetch-Site: cross-site";
        let is_page = text.to_ascii_lowercase().contains("sec-fetch-mode");
        assert!(is_page || status(&format!("{text}{script}")) == Some(403));
        assert_eq!(status(&format!("{text}\nOrigin: http://evil.example")), Some(403));
        assert_eq!(status(&format!("{text}\nHost: evil.example")), Some(400));
    }
});
