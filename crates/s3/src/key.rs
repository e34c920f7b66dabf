//! Names of the objects in a bucket, see `docs/format/objects.md`.

use hyworld_coords::{ChunkPos, RegionPos, RegionSlot};
use hyworld_providers::{Error, Result};
use object_store::path::Path as ObjectPath;

/// The `Type` of this provider.
pub(crate) const TYPE_NAME: &str = "hyworld:S3";

const SCHEME: &str = "s3://";
const CHUNKS: &str = "chunks";
const CHUNK_END: &str = ".zst";

/// A bucket and the prefix of a world in it: `s3://bucket/prefix`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct S3Url {
    bucket: String,
    /// Without a slash at either end; empty for the whole bucket.
    prefix: ObjectPath,
}

impl S3Url {
    /// Parses a URL. Errors do not repeat the text, because it may contain a password.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let wrong = |problem: &str| Error::Config {
            kind: TYPE_NAME.to_owned(),
            problem: format!("Url must be like s3://bucket/prefix, but {problem}"),
        };
        let rest =
            text.strip_prefix(SCHEME).ok_or_else(|| wrong("it does not begin with s3://"))?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.contains('@') {
            let problem = "it has a part before @; set credentials in the environment, as \
                           AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in ~/.aws/credentials";
            return Err(wrong(problem));
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if bucket.is_empty() || !bucket.chars().all(is_name) {
            return Err(wrong("the bucket must consist of letters, digits, dots and hyphens"));
        }
        let prefix = ObjectPath::parse(prefix.trim_end_matches('/'));
        let prefix = prefix.map_err(|_| wrong("the prefix contains an empty part, . or .."))?;
        Ok(Self { bucket: bucket.to_owned(), prefix })
    }

    pub(crate) fn bucket(&self) -> &str {
        &self.bucket
    }

    /// Returns the path of an object next to the chunks.
    pub(crate) fn object(&self, name: &str) -> ObjectPath {
        name.split('/').fold(self.prefix.clone(), ObjectPath::join)
    }

    /// Returns the common prefix of all chunks.
    pub(crate) fn chunks(&self) -> ObjectPath {
        self.object(CHUNKS)
    }

    pub(crate) fn chunk(&self, at: ChunkPos) -> ObjectPath {
        let region = at.region();
        let folder = format!("{}.{}", region.x, region.z);
        self.chunks().join(folder).join(format!("{}{CHUNK_END}", at.slot().index()))
    }

    /// Returns the chunk that is stored in an object. Accepts only the exact name returned by
    /// [`chunk`](Self::chunk), so that no chunk is listed twice.
    pub(crate) fn chunk_at(&self, path: &ObjectPath) -> Option<ChunkPos> {
        let mut parts = path.prefix_match(&self.chunks())?;
        let (folder, file) = (parts.next()?, parts.next()?);
        let (x, z) = folder.as_ref().split_once('.')?;
        let slot = file.as_ref().strip_suffix(CHUNK_END)?;
        let region = RegionPos::new(x.parse().ok()?, z.parse().ok()?);
        let at = region.chunk(RegionSlot::from_index(slot.parse().ok()?)?)?;
        (self.chunk(at) == *path).then_some(at)
    }

    /// Formats the URL of an object.
    pub(crate) fn show(&self, path: &ObjectPath) -> String {
        format!("{SCHEME}{}/{path}", self.bucket)
    }

    /// Formats the URL of the world.
    pub(crate) fn location(&self) -> String {
        self.show(&self.prefix).trim_end_matches('/').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> S3Url {
        S3Url::parse(text).unwrap()
    }

    #[test]
    fn chunk_names_round_trip() {
        let world = url("s3://bucket/worlds/a");
        let at = ChunkPos::new(-33, 65);
        assert_eq!(world.chunk(at).as_ref(), "worlds/a/chunks/-2.2/63.zst");
        for at in [at, ChunkPos::new(0, 0), ChunkPos::new(i32::MIN, i32::MAX)] {
            assert_eq!(world.chunk_at(&world.chunk(at)), Some(at));
        }
        assert_eq!(url("s3://bucket").chunk(at).as_ref(), "chunks/-2.2/63.zst");
        assert_eq!(world.object("lease.json").as_ref(), "worlds/a/lease.json");
    }

    #[test]
    fn other_names_are_not_chunks() {
        let world = url("s3://bucket/w");
        for name in [
            "w/chunks/0.0/1024.zst",
            "w/chunks/0.0/01.zst",
            "w/chunks/0.0/+1.zst",
            "w/chunks/-0.0/1.zst",
            "w/chunks/0.0/1.zst.part",
            "w/chunks/0.0/1",
            "w/chunks/0.0/sub/1.zst",
            "w/chunks/0/1.zst",
            "w/chunks/0.0.0/1.zst",
            "w/chunks/67108864.0/1.zst",
            "w/chunks/1.zst",
            "w/1.zst",
            "chunks/0.0/1.zst",
        ] {
            assert_eq!(world.chunk_at(&ObjectPath::parse(name).unwrap()), None, "{name}");
        }
    }

    #[test]
    fn invalid_urls_are_rejected() {
        assert_eq!(url("s3://b.ucket-1/a/b/").location(), "s3://b.ucket-1/a/b");
        assert_eq!(url("s3://bucket/").location(), "s3://bucket");
        assert_eq!(url("s3://bucket/my world").location(), "s3://bucket/my world");
        for text in
            ["", "bucket/a", "s3:/a", "s3://", "s3:///a", "s3://b/a//b", "s3://b/..", "s3://b?x"]
        {
            assert!(S3Url::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_password_in_a_url_is_rejected_and_not_shown() {
        let error = S3Url::parse("s3://KEYNAME:PASSWORD@bucket/w").unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(text.contains("AWS_SECRET_ACCESS_KEY"), "{text}");
        assert!(!text.contains("PASSWORD") && !text.contains("KEYNAME"), "{text}");
    }
}
