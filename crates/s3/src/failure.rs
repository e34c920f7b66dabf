//! Describes failed requests for users, without secrets.
//!
//! Errors of the `object_store` client contain complete server responses, which repeat the key and
//! the signed data if a signature is rejected. So they never leave this module: only the code and
//! the message of a response are kept.

use std::error::Error as _;

use hyworld_providers::Error;
use object_store::Error as StoreError;

/// The text before the status in client errors about unsuccessful responses.
const STATUS_MARK: &str = "non-2xx status code: ";

/// The kind of a failure, as far as callers distinguish it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FailureKind {
    /// The server reports that the object does not exist.
    NoSuchKey,
    /// The object or the bucket does not exist. A response to HEAD does not say which.
    NotFound,
    /// The condition of a conditional request did not hold.
    Condition,
    /// The object still has the known e-tag.
    NotModified,
    /// The server does not support conditional writes.
    NotImplemented,
    /// The object is larger than any stored chunk.
    TooLarge,
    /// Anything else.
    Other,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    text: String,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, text: String) -> Self {
        Self { kind, text }
    }

    /// Converts an error of the client.
    pub(crate) fn of(error: &StoreError, secrets: &Secrets) -> Self {
        let response = Response::find(error);
        let kind = match (error, &response) {
            (StoreError::NotFound { .. }, None) => FailureKind::NoSuchKey,
            (StoreError::NotFound { .. }, Some(response)) => match response.code.as_str() {
                "NoSuchKey" => FailureKind::NoSuchKey,
                "" => FailureKind::NotFound,
                _ => FailureKind::Other,
            },
            (StoreError::AlreadyExists { .. } | StoreError::Precondition { .. }, _) => {
                FailureKind::Condition
            }
            (StoreError::NotModified { .. }, _) => FailureKind::NotModified,
            (StoreError::NotImplemented { .. } | StoreError::NotSupported { .. }, _) => {
                FailureKind::NotImplemented
            }
            (_, Some(response)) if response.status.starts_with("501") => {
                FailureKind::NotImplemented
            }
            _ => FailureKind::Other,
        };
        let text = response.map_or_else(|| transport(error), |response| response.describe());
        Self { kind, text: secrets.hide(&text) }
    }

    pub(crate) fn into_error(self, location: &str, action: &'static str) -> Error {
        Error::Engine { location: location.to_owned(), action, source: self.into() }
    }
}

/// An unsuccessful response: its status, and the code and message of its body.
struct Response {
    status: String,
    code: String,
    message: String,
}

impl Response {
    fn find(error: &StoreError) -> Option<Self> {
        let text = error.to_string();
        let (_, response) = text.split_once(STATUS_MARK)?;
        let (status, body) = response.split_once(':').unwrap_or((response, ""));
        let element = |name: &str| {
            let (_, rest) = body.split_once(&format!("<{name}>"))?;
            Some(rest.split_once(&format!("</{name}>"))?.0.to_owned())
        };
        let (code, message) = (element("Code"), element("Message"));
        Some(Self {
            status: status.trim().to_owned(),
            code: code.unwrap_or_default(),
            message: message.unwrap_or_default(),
        })
    }

    fn describe(&self) -> String {
        let Self { status, code, message } = self;
        let code = if code.is_empty() { String::new() } else { format!(" {code}") };
        let message = message.trim_end_matches('.');
        let message = if message.is_empty() { String::new() } else { format!(" ({message})") };
        format!("the server answered {status}{code}{message}{}", self.advice())
    }

    fn advice(&self) -> &'static str {
        match (self.code.as_str(), self.status.get(..3)) {
            ("NoSuchBucket", _) => "; create the bucket, or correct the Url",
            ("RequestTimeTooSkewed", _) => "; set the clock of this machine",
            ("NoSuchKey" | "PreconditionFailed", _) => "",
            (_, Some("401" | "403")) => {
                "; check the credentials (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
                 AWS_PROFILE), and that they may list, read and write this bucket"
            }
            (_, Some("404")) => {
                "; check that the Endpoint is an S3 server and that the bucket exists"
            }
            (_, Some("301" | "307" | "308")) => "; check the Region",
            _ => "",
        }
    }
}

/// Describes why there was no response: the innermost reasons, each once.
fn transport(error: &StoreError) -> String {
    let mut reasons: Vec<String> = Vec::new();
    let mut link = error.source();
    while let Some(reason) = link {
        reasons.push(reason.to_string());
        link = reason.source();
    }
    // An outer reason repeats the inner ones.
    let mut shown: Vec<&str> = Vec::new();
    for (number, reason) in reasons.iter().enumerate() {
        let inner = reasons.get(number.saturating_add(1)..).unwrap_or_default();
        if !inner.iter().any(|inner| reason.contains(inner)) {
            shown.push(reason);
        }
    }
    let text = if shown.is_empty() { error.to_string() } else { shown.join(": ") };
    let advice = if text.contains("UnknownIssuer") {
        "; if you trust the server, set AWS_CA_BUNDLE to a file with the certificate of its \
         authority"
    } else {
        ""
    };
    format!("{text}{advice}")
}

/// Strings that must never be shown.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    pub(crate) fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        // Shorter ones occur in ordinary words and are not secrets.
        Self(secrets.into_iter().filter(|secret| secret.len() >= 4).collect())
    }

    fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "***"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: &str, body: &str) -> String {
        format!("Error performing GET http://h/b/k - Server returned {STATUS_MARK}{status}: {body}")
    }

    fn body(code: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><Message>Told: so.</Message>\
             <AWSAccessKeyId>KEYNAME</AWSAccessKeyId><StringToSign>x</StringToSign></Error>"
        )
    }

    fn denied(text: String) -> StoreError {
        StoreError::PermissionDenied { path: "k".to_owned(), source: text.into() }
    }

    fn missing(text: String) -> StoreError {
        StoreError::NotFound { path: "k".to_owned(), source: text.into() }
    }

    #[test]
    fn only_code_and_message_of_a_response_are_shown() {
        let error = denied(refused("403 Forbidden", &body("SignatureDoesNotMatch")));
        let failure = Failure::of(&error, &Secrets::default());
        let expected = "the server answered 403 Forbidden SignatureDoesNotMatch (Told: so); check";
        assert!(failure.to_string().starts_with(expected), "{failure}");
        let all = format!("{failure} {failure:?}");
        assert!(!all.contains("KEYNAME") && !all.contains("StringToSign"), "{all}");
    }

    #[test]
    fn only_a_missing_object_is_no_such_key() {
        let kind = |error| Failure::of(&error, &Secrets::default()).kind;
        let not_found = |code| missing(refused("404 Not Found", &body(code)));
        assert_eq!(kind(not_found("NoSuchKey")), FailureKind::NoSuchKey);
        assert_eq!(kind(not_found("NoSuchBucket")), FailureKind::Other);
        assert_eq!(kind(missing(refused("404 Not Found", ""))), FailureKind::NotFound);
        assert_eq!(
            kind(missing("no such thing in memory: 404".to_owned())),
            FailureKind::NoSuchKey
        );
        let html = "<html>Code</html>";
        assert_eq!(kind(missing(refused("404 Not Found", html))), FailureKind::NotFound);
        assert_eq!(kind(denied(refused("403 Forbidden", ""))), FailureKind::Other);
    }

    #[test]
    fn secrets_are_hidden_anywhere_in_a_text() {
        let secrets = Secrets::new(["TOPSECRET".to_owned(), "a".to_owned()]);
        let error = denied("a proxy said TOPSECRET".to_owned());
        let failure = Failure::of(&error, &secrets);
        assert_eq!(failure.to_string(), "a proxy said ***");
    }

    #[test]
    fn each_reason_of_a_failed_connection_is_shown_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("sending: {source}")]
        struct Outer {
            source: std::io::Error,
        }
        let source = Outer { source: std::io::Error::from(std::io::ErrorKind::ConnectionRefused) };
        let error = StoreError::Generic { store: "S3", source: source.into() };
        assert_eq!(Failure::of(&error, &Secrets::default()).to_string(), "connection refused");
    }
}
