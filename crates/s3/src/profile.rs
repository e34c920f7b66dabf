//! A profile of `~/.aws/credentials` and `~/.aws/config`, as far as it is of use here.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use hyworld_files::FileError;
use hyworld_providers::{Error, Result};

use crate::key::TYPE_NAME;
use crate::variables::Variables;

const DEFAULT_PROFILE: &str = "default";

/// These files are short; what is longer is something else.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Ways to get credentials that need programs or services that are not ours to call.
const OTHER_WAYS: [&str; 4] = ["sso_session", "sso_start_url", "credential_process", "role_arn"];

/// The settings of a profile, by their names in the files. Not `Debug`: some are secrets.
#[derive(Clone, Default)]
pub(crate) struct Profile(BTreeMap<String, String>);

impl Profile {
    /// The profile that `AWS_PROFILE` names, or the default one.
    ///
    /// # Errors
    /// A profile that was named is not there, or a file cannot be read.
    pub(crate) fn load(variables: &Variables) -> Result<Self> {
        let wanted = variables.get("AWS_PROFILE");
        let name = wanted.unwrap_or(DEFAULT_PROFILE);
        let in_config = format!("profile {name}");
        let sections = [name, &in_config];
        let mut settings = BTreeMap::new();
        let mut is_there = false;
        // What stands in both is taken from the credentials file.
        for (variable, file) in
            [("AWS_CONFIG_FILE", "config"), ("AWS_SHARED_CREDENTIALS_FILE", "credentials")]
        {
            let Some(path) = variables.file(variable, file) else { continue };
            let Some(text) = read(&path)? else { continue };
            for (section, key, value) in lines(&text) {
                if sections.contains(&section) {
                    is_there = true;
                    settings.extend(key.map(|key| (key.to_ascii_lowercase(), value.to_owned())));
                }
            }
        }
        match wanted {
            Some(name) if !is_there => Err(problem(format!(
                "AWS_PROFILE names the profile {name:?}, which is not in ~/.aws/credentials or \
                 ~/.aws/config"
            ))),
            _ => Ok(Self(settings)),
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A way to credentials that the profile has and that cannot be gone here.
    pub(crate) fn other_way(&self) -> Option<&'static str> {
        OTHER_WAYS.into_iter().find(|key| self.get(key).is_some())
    }
}

fn problem(problem: String) -> Error {
    Error::Config { kind: TYPE_NAME.to_owned(), problem }
}

/// `None` if there is no such file.
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

/// Section, key and value of each line; for the head of a section without a key. What belongs to
/// a setting of several lines is indented, and is passed over.
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
        // A comment begins after a space: a secret may have a # in it.
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
        assert_eq!((profile.get("aws_session_token"), profile.other_way()), (None, None));
    }

    #[test]
    fn a_named_profile_is_read_and_must_be_there() {
        let profile = load(Some("other")).unwrap_or_default();
        let keys = ["aws_access_key_id", "aws_session_token", "region", "endpoint_url"];
        let found = keys.map(|key| profile.get(key).unwrap());
        assert_eq!(found, ["KEY2", "TOKEN2", "us-west-2", "http://127.0.0.1:9"]);
        assert_eq!(load(Some("sso")).unwrap_or_default().other_way(), Some("sso_session"));
        let error = load(Some("none")).map(drop).unwrap_err().to_string();
        assert!(error.contains("\"none\", which is not in"), "{error}");
    }

    #[test]
    fn no_files_are_no_settings() {
        let nowhere = [("HOME".to_owned(), "/nonexistent".to_owned())];
        for variables in [Variables::new(nowhere), Variables::default()] {
            assert_eq!(Profile::load(&variables).unwrap_or_default().get("region"), None);
        }
    }
}
