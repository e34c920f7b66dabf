//! [`S3Options`]: the location of a world, and how it is read and written.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyworld_providers::{Access, Error, ProviderConfig, Result};
use object_store::ObjectStore;
use serde_json::Value;

use crate::cache::Cache;
use crate::connect::Connection;
use crate::key::{S3Url, TYPE_NAME};
use crate::variables::Variables;
use crate::{S3Storage, without_connection};

/// Longer than the 23 s that a tested cluster needed to recover from the loss of a node.
const DEADLINE: Duration = Duration::from_mins(1);
const LEASE_TIME: Duration = Duration::from_mins(1);
/// Servers round times to whole seconds, so shorter leases are not reliable.
const LEASE_TIME_MIN: Duration = Duration::from_secs(2);
const IN_FLIGHT_MAX: usize = 64;
const CACHE_BYTES_MAX: u64 = 1 << 30;

/// Parts of the names of settings that would contain secrets.
const SECRET_NAMES: [&str; 6] =
    ["secret", "accesskey", "access_key", "token", "password", "credential"];

/// Options for opening a world in an object store.
///
/// In the configuration of a world:
///
/// ```text
/// {"Type": "hyworld:S3", "Url": "s3://bucket/prefix", "Endpoint": "https://host:port",
///  "Region": "eu-west-1", "Cache": "folder", "CacheBytes": 1073741824, "SingleWriter": false}
/// ```
///
/// Only `Url` is required. Missing settings are taken from the environment, as in other programs:
/// `AWS_ENDPOINT_URL` (or `AWS_ENDPOINT_URL_S3`), `AWS_REGION` (or `AWS_DEFAULT_REGION`), and the
/// profile `AWS_PROFILE` in `~/.aws/config`. `AWS_CA_BUNDLE` is the path of a file with
/// certificates to trust.
///
/// Credentials are only taken from the environment, in this order: `AWS_ACCESS_KEY_ID` with
/// `AWS_SECRET_ACCESS_KEY` and optionally `AWS_SESSION_TOKEN`; the profile in `~/.aws/credentials`;
/// the identity of a container or of a machine at Amazon. A configuration with credentials is
/// rejected, because world folders are copied, backed up and shared.
#[derive(Clone, Debug)]
#[must_use]
pub struct S3Options {
    connection: Connection,
    cache: Option<(PathBuf, u64)>,
    pub(crate) access: Access,
    pub(crate) deadline: Duration,
    pub(crate) lease_time: Duration,
    pub(crate) single_writer: bool,
    pub(crate) in_flight_max: usize,
    pub(crate) compression_level: i32,
    pub(crate) building: Option<String>,
}

impl S3Options {
    /// Creates options for a world at `s3://bucket/prefix`, with the environment of this process.
    ///
    /// # Errors
    /// Returns an error if `url` is not such a URL or contains credentials.
    pub fn new(url: &str) -> Result<Self> {
        let connection = Connection {
            url: S3Url::parse(url)?,
            endpoint: None,
            region: None,
            deadline: DEADLINE,
            variables: Variables::of_process(),
        };
        Ok(Self {
            connection,
            cache: None,
            access: Access::ReadWrite,
            deadline: DEADLINE,
            lease_time: LEASE_TIME,
            single_writer: false,
            in_flight_max: IN_FLIGHT_MAX,
            compression_level: hyworld_indexed_storage::DEFAULT_LEVEL,
            building: None,
        })
    }

    /// Creates options from the configuration of the world in the folder `world`.
    ///
    /// # Errors
    /// Returns an error if a setting is missing or invalid, or contains credentials.
    pub fn from_config(config: &ProviderConfig, world: &Path) -> Result<Self> {
        let wrong = |problem: String| Error::Config { kind: TYPE_NAME.to_owned(), problem };
        reject_secrets(config)?;
        let missing = || wrong("Url is missing; set it, as in s3://bucket/prefix".to_owned());
        let mut options = Self::new(config.text("Url")?.ok_or_else(missing)?)?;
        options.connection.endpoint = config.text("Endpoint")?.map(str::to_owned);
        options.connection.region = config.text("Region")?.map(str::to_owned);
        options.single_writer = match config.get("SingleWriter") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(single)) => *single,
            Some(_) => return Err(wrong("SingleWriter must be true or false".to_owned())),
        };
        let bytes = match config.get("CacheBytes") {
            None | Some(Value::Null) => CACHE_BYTES_MAX,
            Some(bytes) => bytes
                .as_u64()
                .ok_or_else(|| wrong("CacheBytes must be a number of bytes".to_owned()))?,
        };
        if let Some(folder) = config.text("Cache")? {
            options = options.cache(&world.join(folder), bytes);
        }
        Ok(options)
    }

    /// Sets whether the world may be written. Reading needs no lease.
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Sets the server, as in `https://host:port`. The default is Amazon S3.
    pub fn endpoint(mut self, endpoint: &str) -> Self {
        self.connection.endpoint = Some(endpoint.to_owned());
        self
    }

    /// Sets the region, which is part of the request signature. The default is `us-east-1`.
    pub fn region(mut self, region: &str) -> Self {
        self.connection.region = Some(region.to_owned());
        self
    }

    /// Replaces the environment variables of this process.
    pub fn variables(mut self, all: impl IntoIterator<Item = (String, String)>) -> Self {
        self.connection.variables = Variables::new(all);
        self
    }

    /// Caches read objects in a folder, up to this many bytes. Each read still asks the server
    /// whether the object has changed.
    pub fn cache(mut self, folder: &Path, bytes_max: u64) -> Self {
        self.cache = Some((folder.to_owned(), bytes_max));
        self
    }

    /// Sets how long a request may take in total, including retries. The default is a minute. The
    /// first request, before the server has ever answered, gets at most ten seconds.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self.connection.deadline = deadline;
        self
    }

    /// Sets after how long others may take over from a writer that has disappeared. The default is
    /// a minute. Rounded down to whole seconds, at least two.
    pub fn lease_time(mut self, time: Duration) -> Self {
        self.lease_time = Duration::from_secs(time.max(LEASE_TIME_MIN).as_secs());
        self
    }

    /// Declares that only one program writes, for servers that ignore conditional writes. Without
    /// it, such servers can only be opened for reading.
    pub fn single_writer(mut self, single: bool) -> Self {
        self.single_writer = single;
        self
    }

    /// Sets the maximum number of concurrent requests. The default is 64.
    pub fn in_flight_max(mut self, requests: usize) -> Self {
        self.in_flight_max = requests.clamp(1, 1 << 16);
        self
    }

    /// Sets the zstd level; only level 3 produces the same bytes as the game.
    pub fn compression_level(mut self, level: i32) -> Self {
        self.compression_level = level;
        self
    }

    /// Starts or continues a copy of `source`. Until
    /// [`finish_building`](S3Storage::finish_building) the world can only be opened with this
    /// option, so that an incomplete copy is never mistaken for a complete world.
    pub fn building(mut self, source: &str) -> Self {
        self.building = Some(source.to_owned());
        self
    }

    /// Opens the world.
    ///
    /// # Errors
    /// Returns an error if there are no credentials, the server cannot be reached or rejects them,
    /// or the bucket does not exist. When opening for reading, also if there is no world. When
    /// opening for writing, also if another program writes the world ([`Error::Locked`]) or the
    /// server does not support conditional writes ([`Error::ReadOnly`]).
    pub fn open(&self) -> Result<S3Storage> {
        S3Storage::start(self, self.connection.connect()?)
    }

    /// Opens the world in an object store that needs no S3 connection. Endpoint, region and
    /// environment are ignored.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_on(&self, store: Arc<dyn ObjectStore>) -> Result<S3Storage> {
        S3Storage::start(self, without_connection(store))
    }

    pub(crate) fn url(&self) -> &S3Url {
        &self.connection.url
    }

    pub(crate) fn open_cache(&self, origin: &str) -> Result<Option<Cache>> {
        let open =
            |(folder, bytes): &(PathBuf, u64)| Cache::open(folder, *bytes, origin.to_owned());
        self.cache.as_ref().map(open).transpose()
    }
}

/// Rejects settings with secrets. The error omits the value, so that it does not end up in logs.
fn reject_secrets(config: &ProviderConfig) -> Result<()> {
    let json = config.to_json();
    let names = json.as_object().into_iter().flat_map(|object| object.keys());
    for name in names {
        let lower = name.to_ascii_lowercase();
        if SECRET_NAMES.iter().any(|secret| lower.contains(secret)) {
            let problem = format!(
                "{name} must not be in the configuration of a world, which is copied and shared; \
                 set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead"
            );
            return Err(Error::Config { kind: TYPE_NAME.to_owned(), problem });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn from_config(settings: &Value) -> Result<S3Options> {
        let mut config = ProviderConfig::new(TYPE_NAME);
        for (key, value) in settings.as_object().unwrap() {
            config = config.with(key, value.clone());
        }
        S3Options::from_config(&config, Path::new("/worlds/a"))
    }

    #[test]
    fn every_setting_is_read() {
        let options = from_config(&json!({
            "Url": "s3://b/p", "Endpoint": "http://h:1", "Region": "r", "Cache": "c",
            "CacheBytes": 5, "SingleWriter": true, "Unknown": [1],
        }))
        .unwrap();
        assert_eq!(options.url().location(), "s3://b/p");
        assert_eq!(options.connection.endpoint.as_deref(), Some("http://h:1"));
        assert_eq!(options.connection.region.as_deref(), Some("r"));
        assert_eq!(options.cache, Some((PathBuf::from("/worlds/a/c"), 5)));
        assert!(options.single_writer);
        let plain = from_config(&json!({"Url": "s3://b"})).unwrap();
        assert!(!plain.single_writer && plain.cache.is_none());
        assert!(plain.deadline > Duration::from_secs(30));
    }

    #[test]
    fn invalid_settings_are_rejected() {
        let message = |settings: Value| from_config(&settings).unwrap_err().to_string();
        assert!(message(json!({})).contains("Url is missing; set it, as in s3://bucket/prefix"));
        assert!(message(json!({"Url": "http://x"})).contains("does not begin with s3://"));
        assert!(message(json!({"Url": 3})).contains("Url must be a string"));
        let wrong = json!({"Url": "s3://b", "SingleWriter": 1});
        assert!(message(wrong).contains("SingleWriter must be true or false"));
        let wrong = json!({"Url": "s3://b", "Cache": "c", "CacheBytes": -1});
        assert!(message(wrong).contains("CacheBytes must be a number"));
    }

    #[test]
    fn credentials_in_a_configuration_are_rejected_and_not_shown() {
        for name in ["SecretAccessKey", "AccessKeyId", "SessionToken", "Password", "Credentials"] {
            let error = from_config(&json!({"Url": "s3://b", name: "HIDDEN"})).unwrap_err();
            let text = format!("{error} {error:?}");
            assert!(text.contains(name) && !text.contains("HIDDEN"), "{text}");
        }
    }
}
