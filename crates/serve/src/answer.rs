//! Answers: status, headers and body.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

use crate::request::Refusal;

/// A complete answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
    /// How long browsers may keep it, in seconds.
    pub(crate) seconds: u32,
}

impl Answer {
    pub(crate) fn new(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status: 200, content_type, body: body.into(), seconds: 0 }
    }

    pub(crate) fn text(status: u16, text: &str) -> Self {
        let body = Bytes::from(format!("{text}\n"));
        Self { status, content_type: "text/plain; charset=utf-8", body, seconds: 0 }
    }

    pub(crate) fn json(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, ..Self::new("application/json", body) }
    }

    /// Converts it to a response; without the body for HEAD.
    pub(crate) fn response(self, has_body: bool) -> Response<Full<Bytes>> {
        let body = if has_body { self.body } else { Bytes::new() };
        let mut response = Response::new(Full::new(body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        let caching = match self.seconds {
            0 => HeaderValue::from_static("no-cache"),
            _ => HeaderValue::from_static("max-age=31536000, immutable"),
        };
        headers.insert(CACHE_CONTROL, caching);
        if self.status == 405 {
            headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        response
    }
}

impl From<Refusal> for Answer {
    fn from(Refusal(status, reason): Refusal) -> Self {
        Self::text(status, reason)
    }
}

/// Returns the content type of a file name.
pub(crate) fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("webp") => "image/webp",
        Some("png") => "image/png",
        _ => "text/plain; charset=utf-8",
    }
}
