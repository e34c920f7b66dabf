//! Checks the head of a request without a connection, for the fuzz targets.

use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Uri};

use crate::access::Access;
use crate::request::{Refusal, Request};

/// Checks and routes a request: `METHOD PATH` and lines `NAME: VALUE`. Returns the status of its
/// refusal, 200 if it can be answered, or `None` if it is not HTTP.
#[doc(hidden)]
pub fn check_head(text: &str, hosts: &[&str]) -> Option<u16> {
    let mut lines = text.split('\n');
    let (method, uri) = lines.next()?.split_once(' ')?;
    let method = Method::from_bytes(method.as_bytes()).ok()?;
    let uri: Uri = uri.parse().ok()?;
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(": ")?;
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        // Fails if there are more than a server accepts.
        headers.try_append(name, HeaderValue::from_str(value).ok()?).ok()?;
    }
    let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    let access = Access { hosts, is_framing_allowed: false };
    let checked = access.check(&headers).and_then(|()| Request::parse(&method, &uri));
    Some(checked.map_or_else(|Refusal(status, _)| status, |_| 200))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_the_status_of_its_request() {
        assert_eq!(check_head("GET /\nHost: localhost", &[]), Some(200));
        assert_eq!(check_head("GET /x\nHost: localhost", &[]), Some(404));
        assert_eq!(check_head("GET /\nHost: map.example", &[]), Some(421));
        assert_eq!(check_head("GET /\nHost: map.example", &["map.example"]), Some(200));
        assert_eq!(check_head("GET", &[]), None);
    }
}
