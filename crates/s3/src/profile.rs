//! Reads a profile from `~/.aws/credentials` and `~/.aws/config`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use hyworld_files::FileError;
use hyworld_providers::{Error, Result};

use crate::key::TYPE_NAME;
use crate::variables::Variables;

const DEFAULT_PROFILE: &str = "default";

/// Maximum size of the files, which are short.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Methods to obtain credentials that need other programs or services. They are not supported.
const UNSUPPORTED_METHODS: [&str; 4] =
    ["sso_session", "sso_start_url", "credential_process", "role_arn"];

/// The settings of a profile, by name. Does not implement `Debug`, because some are secrets.
#[derive(Clone, Default)]
pub(crate) struct Profile(BTreeMap<String, String>);

impl Profile {
    /// Loads the profile `AWS_PROFILE`, or the default one.
    ///
    /// # Errors
    /// Returns an error if the named profile does not exist or a file cannot be read.
    pub(crate) fn load(variables: &Variables) -> Result<Self> {
        let wanted = variables.get("AWS_PROFILE");
        let name = wanted.unwrap_or(DEFAULT_PROFILE);
        let in_config = format!("profile {name}");
        let sections = [name, &in_config];
        let mut settings = BTreeMap::new();
        let mut exists = false;
        // The credentials file is read last, so it takes precedence.
        for (variable, file) in
            [("AWS_CONFIG_FILE", "config"), ("AWS_SHARED_CREDENTIALS_FILE", "credentials")]
        {
            let Some(path) = variables.file(variable, file) else { continue };
            let Some(text) = read(&path)? else { continue };
            for (section, key, value) in lines(&text) {
                if sections.contains(&section) {
                    exists = true;
                    settings.extend(key.map(|key| (key.to_ascii_lowercase(), value.to_owned())));
                }
            }
        }
        match wanted {
            Some(name) if !exists => Err(problem(format!(
                "AWS_PROFILE is {name:?}, which is not in ~/.aws/credentials or \
                 ~/.aws/config"
            ))),
            _ => Ok(Self(settings)),
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns an unsupported method to obtain credentials that the profile uses, if any.
    pub(crate) fn unsupported_method(&self) -> Option<&'static str> {
        UNSUPPORTED_METHODS.into_iter().find(|key| self.get(key).is_some())
    }
}

fn problem(problem: String) -> Error {
    Error::Config { kind: TYPE_NAME.to_owned(), problem }
}

/// Reads a file. Returns `None` if it does not exist.
fn read(path: &Path) -> Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(FileError::at(path, "open")(error).into()),
    };
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(FileError::at(path, "read"))?;
    Ok(Some(text))
}

/// Returns section, key and value of each line; a section header has no key. Indented lines belong
/// to a multi-line setting and are skipped.
fn lines(text: &str) -> impl Iterator<Item = (&str, Option<&str>, &str)> {
    let mut section = "";
    text.lines().filter_map(move |line| {
        let is_indented = line.starts_with([' ', '\t']);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            return None;
        }
        if let Some(head) = line.strip_prefix('[') {
            section = head.split(']').next().unwrap_or_default().trim();
            return Some((section, None, ""));
        }
        let (key, value) = line.split_once('=').filter(|_| !is_indented)?;
        // A comment begins after a space: a secret may contain a #.
        let value = value.split(" #").next().unwrap_or_default().split(" ;").next()?;
        Some((section, Some(key.trim()), value.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "
# a comment
[default]
aws_access_key_id = KEY1
aws_secret_access_key=SE=CR#ET1 # a comment

[ other ]
AWS_ACCESS_KEY_ID = KEY2
aws_secret_access_key = SECRET2
aws_session_token = TOKEN2
";
    const CONFIG: &str = "
[default]
region = eu-west-1
[profile other]
region = us-west-2
endpoint_url = http://127.0.0.1:9
s3 =
  region = indented
[profile sso]
sso_session = work
";

    fn load(name: Option<&str>) -> Result<Profile> {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        let file = |name| home.path().join(".aws").join(name);
        hyworld_testkit::write_file(&file("credentials"), CREDENTIALS.as_bytes());
        hyworld_testkit::write_file(&file("config"), CONFIG.as_bytes());
        let home = home.path().to_str().unwrap().to_owned();
        let profile = name.map(|name| ("AWS_PROFILE".to_owned(), name.to_owned()));
        let all = [("HOME".to_owned(), home)].into_iter().chain(profile);
        Profile::load(&Variables::new(all))
    }

    #[test]
    fn the_default_profile_is_read_from_both_files() {
        let profile = load(None).unwrap_or_default();
        assert_eq!(profile.get("aws_access_key_id"), Some("KEY1"));
        assert_eq!(profile.get("aws_secret_access_key"), Some("SE=CR#ET1"));
        assert_eq!(profile.get("region"), Some("eu-west-1"));
        assert_eq!((profile.get("aws_session_token"), profile.unsupported_method()), (None, None));
    }

    #[test]
    fn a_named_profile_is_read_and_must_exist() {
        let profile = load(Some("other")).unwrap_or_default();
        let keys = ["aws_access_key_id", "aws_session_token", "region", "endpoint_url"];
        let found = keys.map(|key| profile.get(key).unwrap());
        assert_eq!(found, ["KEY2", "TOKEN2", "us-west-2", "http://127.0.0.1:9"]);
        assert_eq!(load(Some("sso")).unwrap_or_default().unsupported_method(), Some("sso_session"));
        let error = load(Some("none")).map(drop).unwrap_err().to_string();
        assert!(error.contains("\"none\", which is not in"), "{error}");
    }

    #[test]
    fn missing_files_are_empty_settings() {
        let nowhere = [("HOME".to_owned(), "/nonexistent".to_owned())];
        for variables in [Variables::new(nowhere), Variables::default()] {
            assert_eq!(Profile::load(&variables).unwrap_or_default().get("region"), None);
        }
    }
}
