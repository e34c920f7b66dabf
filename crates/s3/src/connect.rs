//! Creates a client from the settings: server address and credentials.

use std::sync::Arc;
use std::time::Duration;

use hyworld_files::FileError;
use hyworld_providers::{Error, Result};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::{BackoffConfig, Certificate, ClientOptions, ObjectStore, RetryConfig};

use crate::failure::{Failure, Secrets};
use crate::key::{S3Url, TYPE_NAME};
use crate::profile::Profile;
use crate::variables::Variables;

/// Time limit for establishing a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// Time limit for the first response of a server, whose address the user may have mistyped. A
/// server that has responded before gets the whole deadline.
pub(crate) const FIRST_ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// Pauses between attempts start at this length and grow; each has a random length.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Client settings that must not override the location that was requested.
const LOCATION_KEYS: [AmazonS3ConfigKey; 1] = [AmazonS3ConfigKey::Bucket];

/// The location of a world and how to connect to it.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) url: S3Url,
    pub(crate) endpoint: Option<String>,
    pub(crate) region: Option<String>,
    pub(crate) deadline: Duration,
    pub(crate) variables: Variables,
}

/// A client, and the secrets that it must not reveal.
pub(crate) struct Connected {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// A client with a shorter deadline, for the first request.
    pub(crate) first: Arc<dyn ObjectStore>,
    pub(crate) secrets: Secrets,
    /// The server, for messages and for the cache.
    pub(crate) server: String,
}

/// The credentials that sign requests.
struct Credentials {
    key_id: String,
    secret: String,
    token: Option<String>,
}

impl Connection {
    pub(crate) fn connect(&self) -> Result<Connected> {
        // rustls needs a process-wide crypto provider. A provider chosen by the program is kept; if
        // two threads choose at once, the first one wins.
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            drop(rustls::crypto::ring::default_provider().install_default());
        }
        let profile = Profile::load(&self.variables)?;
        let credentials = self.credentials(&profile)?;
        let secrets = Secrets::new(credentials.iter().flat_map(Credentials::parts));
        let endpoint = self.endpoint(&profile)?;
        let server = endpoint.clone().unwrap_or_else(|| "Amazon S3".to_owned());
        let mut builder = self.builder(&profile, endpoint.as_deref());
        if let Some(Credentials { key_id, secret, token }) = credentials {
            builder = builder.with_access_key_id(key_id).with_secret_access_key(secret);
            builder = token.into_iter().fold(builder, AmazonS3Builder::with_token);
        }
        let options = self.client_options(endpoint.as_deref())?;
        let build = |deadline: Duration| {
            let limit = deadline / 3;
            let options = options.clone().with_connect_timeout(CONNECT_LIMIT.min(limit));
            let builder = builder.clone().with_client_options(options.with_timeout(limit));
            let store = builder.with_retry(retries(deadline)).build().map(Arc::new);
            store.map_err(|error| {
                Failure::of(&error, &secrets).into_error(&self.url.location(), "prepare requests")
            })
        };
        let first = build(self.deadline.min(FIRST_ANSWER_LIMIT))?;
        Ok(Connected { store: build(self.deadline)?, first, secrets, server })
    }

    fn builder(&self, profile: &Profile, endpoint: Option<&str>) -> AmazonS3Builder {
        let mut builder = AmazonS3Builder::new()
            // Plain deletes work on every server; bulk deletes save little here.
            .with_disable_bulk_delete(true);
        for (name, value) in self.variables.all() {
            let key = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>();
            if let Ok(key) = key.map_err(drop)
                && !LOCATION_KEYS.contains(&key)
            {
                builder = builder.with_config(key, value);
            }
        }
        let of_variables = ["AWS_REGION", "AWS_DEFAULT_REGION"];
        let region = of_variables.iter().find_map(|name| self.variables.get(name));
        let region = self.region.as_deref().or(region).or_else(|| profile.get("region"));
        builder = region.into_iter().fold(builder, AmazonS3Builder::with_region);
        if let Some(endpoint) = endpoint {
            builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, endpoint);
        }
        builder.with_bucket_name(self.url.bucket())
    }

    /// Returns the client options, except for time limits.
    fn client_options(&self, endpoint: Option<&str>) -> Result<ClientOptions> {
        let mut options = ClientOptions::new()
            // An endpoint with http:// allows unencrypted connections.
            .with_allow_http(endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")));
        if let Some(path) = self.variables.get("AWS_CA_BUNDLE") {
            let pem = std::fs::read(path).map_err(FileError::at(path.as_ref(), "read"))?;
            let certificates = Certificate::from_pem_bundle(&pem).unwrap_or_default();
            if certificates.is_empty() {
                return Err(problem(format!("AWS_CA_BUNDLE: {path} contains no certificates")));
            }
            options = certificates.into_iter().fold(options, ClientOptions::with_root_certificate);
        }
        Ok(options)
    }

    fn endpoint(&self, profile: &Profile) -> Result<Option<String>> {
        let names = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
        let of_variables = || names.iter().find_map(|name| self.variables.get(name));
        let endpoint = self.endpoint.as_deref().or_else(of_variables);
        let Some(endpoint) = endpoint.or_else(|| profile.get("endpoint_url")) else {
            return Ok(None);
        };
        let host = endpoint.strip_prefix("http://").or_else(|| endpoint.strip_prefix("https://"));
        match host.map(|host| host.split('/').next().unwrap_or_default()) {
            // The value is not shown: the part before the @ could be a password.
            Some(host) if host.contains('@') => {
                Err(problem("Endpoint must not contain credentials".to_owned()))
            }
            Some(host) if !host.is_empty() => Ok(Some(endpoint.trim_end_matches('/').to_owned())),
            _ => Err(problem("Endpoint must be like https://host:port".to_owned())),
        }
    }

    /// Returns the credentials from variables or from a profile. Returns `None` if the client can
    /// obtain others, such as the identity of a container or of a machine at Amazon.
    fn credentials(&self, profile: &Profile) -> Result<Option<Credentials>> {
        let variable = |name: &str| self.variables.get(name).map(str::to_owned);
        let setting = |key: &str| profile.get(key).map(str::to_owned);
        let id = variable("AWS_ACCESS_KEY_ID");
        let secret = variable("AWS_SECRET_ACCESS_KEY");
        match (id, secret) {
            (Some(key_id), Some(secret)) => {
                let token = variable("AWS_SESSION_TOKEN");
                return Ok(Some(Credentials { key_id, secret, token }));
            }
            (None, None) => {}
            _ => {
                let text = "only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set";
                return Err(problem(text.to_owned()));
            }
        }
        if let (Some(key_id), Some(secret)) =
            (setting("aws_access_key_id"), setting("aws_secret_access_key"))
        {
            let token = setting("aws_session_token");
            return Ok(Some(Credentials { key_id, secret, token }));
        }
        if self.has_other_credentials(profile) { Ok(None) } else { Err(no_credentials(profile)) }
    }

    fn has_other_credentials(&self, profile: &Profile) -> bool {
        let is_set = |name: &str| self.variables.get(name).is_some();
        let is_true = |name: &str| {
            self.variables.get(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
        };
        let is_container = is_set("AWS_WEB_IDENTITY_TOKEN_FILE")
            || is_set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
            || is_set("AWS_CONTAINER_CREDENTIALS_FULL_URI");
        // A machine at Amazon has an identity; asking for it elsewhere takes long and fails.
        let is_at_amazon = matches!(self.endpoint(profile), Ok(None))
            && profile.unsupported_method().is_none()
            && !is_true("AWS_EC2_METADATA_DISABLED");
        is_true("AWS_SKIP_SIGNATURE") || is_container || is_at_amazon
    }
}

/// Allows as many attempts as fit into the deadline. Reserves some time for the last response, so
/// that the error has the reason of the server instead of a timeout.
fn retries(deadline: Duration) -> RetryConfig {
    let backoff = BackoffConfig {
        init_backoff: PAUSE_MIN,
        max_backoff: PAUSE_MAX.min(deadline / 10),
        base: 2.0,
    };
    RetryConfig { backoff, max_retries: usize::MAX, retry_timeout: deadline / 10 * 8 }
}

impl Credentials {
    fn parts(&self) -> impl Iterator<Item = String> {
        [Some(&self.key_id), Some(&self.secret), self.token.as_ref()].into_iter().flatten().cloned()
    }
}

fn problem(problem: String) -> Error {
    Error::Config { kind: TYPE_NAME.to_owned(), problem }
}

fn no_credentials(profile: &Profile) -> Error {
    let why = profile.unsupported_method().map_or_else(String::new, |key| {
        format!(" (the profile uses {key}, which this program does not support)")
    });
    problem(format!(
        "no credentials{why}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or put \
         aws_access_key_id and aws_secret_access_key into ~/.aws/credentials"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(variables: &[(&str, &str)]) -> Connection {
        let owned = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Connection {
            url: S3Url::parse("s3://bucket/w").unwrap(),
            endpoint: None,
            region: None,
            deadline: Duration::from_mins(1),
            variables: Variables::new(owned),
        }
    }

    fn key_of(connection: &Connection, key: AmazonS3ConfigKey) -> Option<String> {
        let profile = Profile::load(&connection.variables).ok()?;
        let endpoint = connection.endpoint(&profile).ok()?;
        connection.builder(&profile, endpoint.as_deref()).get_config_value(&key)
    }

    const KEYS: [(&str, &str); 2] =
        [("AWS_ACCESS_KEY_ID", "KEYNAME"), ("AWS_SECRET_ACCESS_KEY", "TOPSECRET")];

    #[test]
    fn settings_take_precedence_over_variables() {
        use AmazonS3ConfigKey::{Bucket, Region, S3Endpoint};
        let mut connection = connection(&[
            ("AWS_ENDPOINT_URL", "http://a:1"),
            ("AWS_ENDPOINT_URL_S3", "http://b:1/"),
            ("AWS_DEFAULT_REGION", "r1"),
            ("AWS_REGION", "r2"),
            ("AWS_BUCKET", "another"),
        ]);
        assert_eq!(key_of(&connection, S3Endpoint).unwrap(), "http://b:1");
        assert_eq!(key_of(&connection, Region).unwrap(), "r2");
        assert_eq!(key_of(&connection, Bucket).unwrap(), "bucket");
        connection.endpoint = Some("https://c".to_owned());
        connection.region = Some("r3".to_owned());
        assert_eq!(key_of(&connection, S3Endpoint).unwrap(), "https://c");
        assert_eq!(key_of(&connection, Region).unwrap(), "r3");
    }

    #[test]
    fn endpoints_with_passwords_are_rejected() {
        let profile = Profile::default();
        let endpoint = |text: &str| {
            let endpoint = Some(text.to_owned());
            Connection { endpoint, ..connection(&KEYS) }.endpoint(&profile)
        };
        assert_eq!(endpoint("http://127.0.0.1:8333/").unwrap().unwrap(), "http://127.0.0.1:8333");
        for wrong in ["127.0.0.1:8333", "ftp://x", "http://", "https:///x"] {
            assert!(endpoint(wrong).is_err(), "{wrong}");
        }
        let error = endpoint("https://me:PASSWORD@host").unwrap_err();
        assert!(!format!("{error} {error:?}").contains("PASSWORD"));
    }

    #[test]
    fn missing_credentials_are_an_error() {
        let mut connection = connection(&[]);
        connection.endpoint = Some("http://127.0.0.1:1".to_owned());
        let error = connection.connect().map(drop).unwrap_err().to_string();
        assert!(error.contains("no credentials: set AWS_ACCESS_KEY_ID and"), "{error}");
        connection.variables = Variables::new([("AWS_SKIP_SIGNATURE".into(), "true".into())]);
        assert!(connection.connect().is_ok());
        connection.variables = Variables::new([("AWS_ACCESS_KEY_ID".into(), "KEYNAME".into())]);
        let error = connection.connect().map(drop).unwrap_err().to_string();
        assert!(error.contains("only one of") && !error.contains("KEYNAME"), "{error}");
    }

    #[test]
    fn debug_output_has_no_credentials() {
        let shown = format!("{:?}", connection(&KEYS));
        assert!(shown.contains("AWS_SECRET_ACCESS_KEY"), "{shown}");
        assert!(!shown.contains("TOPSECRET") && !shown.contains("KEYNAME"), "{shown}");
    }
}
