//! [`Access`]: which requests are answered, by their host and by the page that sent them, and the
//! headers that tell browsers to keep the answers from other pages.

use hyper::HeaderMap;
use hyper::header::{
    CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};

use crate::request::Refusal;

/// What the viewer needs: its own files, and the empty pictures of Leaflet.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'";

/// The same, and no page may show the map in a frame.
const POLICY_UNFRAMED: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Decides which requests are answered.
#[derive(Debug, Default)]
pub(crate) struct Access {
    /// Host names besides `localhost` and addresses.
    pub(crate) hosts: Vec<String>,
    /// Whether pages of other sites may show the map in a frame.
    pub(crate) is_framing_allowed: bool,
}

impl Access {
    /// Refuses requests for other hosts, and requests that the pages of other sites send.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = headers.get(HOST).ok_or(Refusal(400, "Host is missing"))?;
        let host = host.to_str().map_err(|_| Refusal(400, "Host is not a name"))?;
        if headers.get_all(HOST).iter().count() > 1 {
            return Err(Refusal(400, "several Hosts"));
        }
        if !is_own_host(host, &self.hosts) {
            return Err(Refusal(421, "this server has another name; start it with --host NAME"));
        }
        let is_own_origin = |origin: &HeaderValue| self.is_own_origin(origin.as_bytes(), host);
        if !self.is_from_own_page(headers) || !headers.get_all(ORIGIN).iter().all(is_own_origin) {
            return Err(Refusal(403, "pages of other sites cannot read this map"));
        }
        Ok(())
    }

    /// Returns whether the request does not come from a page of another site. Another port is also
    /// another site here, although browsers call it `same-site`. Programs and old browsers do not
    /// send these headers. Links from other sites work: their pages cannot read the answer.
    fn is_from_own_page(&self, headers: &HeaderMap) -> bool {
        let is_own = |site: &HeaderValue| ["same-origin", "none"].iter().any(|own| site == own);
        if headers.get_all("sec-fetch-site").iter().all(is_own) {
            return true;
        }
        let is_page = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
        let is_shown_in = |kinds: &[&str]| {
            headers.get("sec-fetch-dest").is_some_and(|dest| kinds.iter().any(|kind| dest == kind))
        };
        let is_frame = self.is_framing_allowed && is_shown_in(&["iframe", "frame"]);
        is_page && (is_frame || is_shown_in(&["document"]))
    }

    /// Returns whether an `Origin` is that of this server. An address is not enough, because a page
    /// can come from any address.
    fn is_own_origin(&self, origin: &[u8], host: &str) -> bool {
        let origin = std::str::from_utf8(origin).ok();
        let Some((_, origin)) = origin.and_then(|it| it.split_once("://")) else { return false };
        let is_allowed = |known: &String| known.eq_ignore_ascii_case(name_of(origin));
        origin.eq_ignore_ascii_case(host) || self.hosts.iter().any(is_allowed)
    }

    /// Adds the headers that protect an answer in a browser.
    pub(crate) fn protect(&self, headers: &mut HeaderMap) {
        let mut add = |name, value| headers.insert(name, HeaderValue::from_static(value));
        add(X_CONTENT_TYPE_OPTIONS, "nosniff");
        add(REFERRER_POLICY, "no-referrer");
        // Browsers send no `Sec-Fetch-Site` to addresses without encryption, except to their own
        // machine.
        add(RESOURCE_POLICY, "same-origin");
        if self.is_framing_allowed {
            add(CONTENT_SECURITY_POLICY, POLICY);
        } else {
            add(CONTENT_SECURITY_POLICY, POLICY_UNFRAMED);
            add(X_FRAME_OPTIONS, "DENY");
        }
    }
}

/// Returns the name or address of a host, without its port.
fn name_of(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(name, _)| name),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

/// Returns whether a `Host` names this server. Names other than `localhost` are refused unless they
/// are in `allowed`: otherwise any page could point its own name here and read the map through a
/// visitor's browser.
fn is_own_host(host: &str, allowed: &[String]) -> bool {
    let name = name_of(host);
    let is_address = name.parse::<std::net::IpAddr>().is_ok();
    let is_name = |known: &str| known.eq_ignore_ascii_case(name);
    is_address || is_name("localhost") || allowed.iter().any(|known| is_name(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(access: &Access, lines: &[(&'static str, &'static str)]) -> u16 {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        access.check(&headers).map_or_else(|Refusal(status, _)| status, |()| 200)
    }

    #[test]
    fn other_names_are_not_this_server() {
        let allowed = ["map.example".to_owned()];
        for host in ["127.0.0.1:8080", "localhost", "LocalHost:1", "[::1]:8080", "192.168.0.3"] {
            assert!(is_own_host(host, &[]), "{host}");
        }
        assert!(is_own_host("Map.Example:443", &allowed));
        for host in
            ["evil.example", "evil.example:8080", "localhost.evil", "", "[::1", "map.example"]
        {
            assert!(!is_own_host(host, &[]), "{host}");
        }
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let (host, access) = (("host", "localhost:8080"), Access::default());
        let own = [
            vec![host],
            vec![host, ("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "no-cors")],
            vec![host, ("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")],
            vec![host, ("origin", "http://LOCALHOST:8080")],
        ];
        for lines in own {
            assert_eq!(status(&access, &lines), 200, "{lines:?}");
        }
        for site in ["cross-site", "same-site", "", "unknown"] {
            let script = [host, ("sec-fetch-site", site), ("sec-fetch-mode", "no-cors")];
            assert_eq!(status(&access, &script), 403, "{site}");
        }
        let two = [host, ("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")];
        assert_eq!(status(&access, &two), 403);
        for origin in
            ["http://evil.example", "http://6.6.6.6", "http://localhost:3000", "null", "://"]
        {
            assert_eq!(status(&access, &[host, ("origin", origin)]), 403, "{origin}");
        }
    }

    #[test]
    fn links_and_allowed_frames_of_other_sites_work() {
        let go = |kind| {
            let lines = [("host", "localhost"), ("sec-fetch-site", "cross-site")];
            [&lines[..], &[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", kind)]].concat()
        };
        let framed = Access { is_framing_allowed: true, ..Access::default() };
        assert_eq!(status(&Access::default(), &go("document")), 200);
        for (kind, allowed) in [("iframe", 200), ("frame", 200), ("object", 403), ("embed", 403)] {
            assert_eq!(status(&Access::default(), &go(kind)), 403, "{kind}");
            assert_eq!(status(&framed, &go(kind)), allowed, "{kind}");
        }
    }

    #[test]
    fn a_proxy_with_an_allowed_name_may_have_another_host() {
        let access = Access { hosts: vec!["map.example".to_owned()], ..Access::default() };
        let from = |origin| status(&access, &[("host", "127.0.0.1:8080"), ("origin", origin)]);
        assert_eq!(from("https://map.example"), 200);
        assert_eq!(from("https://other.example"), 403);
    }
}
