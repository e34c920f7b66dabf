//! Arguments of `migrate`.

use std::path::PathBuf;

use clap::Args;
use hyworld_providers::ProviderConfig;
use serde_json::Value;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent flag")]
pub(crate) struct MigrateArgs {
    /// A world, or a universe or save with one world
    pub(crate) world: PathBuf,
    /// The new provider: Hytale, `IndexedStorage`, `RocksDb` or `hyworld:S3`
    #[arg(long, value_name = "TYPE")]
    pub(crate) to: String,
    /// A provider option, such as FlushOnWrite=true or Url=s3://bucket/world; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = option)]
    pub(crate) options: Vec<(String, Value)>,
    /// Replace the chunks that the new storage already has, and remove those the world lacks
    #[arg(long)]
    pub(crate) replace: bool,
    /// With --replace: replace chunks even if nothing shows that they are of this world
    #[arg(long, requires = "replace")]
    pub(crate) trust_target: bool,
    /// Do not ask before chunks of the new storage are replaced
    #[arg(long)]
    pub(crate) yes: bool,
    /// Write the undo bundle to this file [default: a new file beside the world]
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// Switch the world even if some chunks cannot be read; those stay only in the old storage
    #[arg(long)]
    pub(crate) skip_unreadable: bool,
    /// Read all chunks and check the target, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl MigrateArgs {
    /// Returns the configuration of the new provider.
    pub(crate) fn target(&self) -> ProviderConfig {
        let options = self.options.iter();
        options.fold(ProviderConfig::new(&self.to), |target, (key, value)| {
            target.with(key, value.clone())
        })
    }
}

/// Parses `KEY=VALUE`. The value is JSON if it parses as JSON, otherwise text.
fn option(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("must be KEY=VALUE")?;
    if key.is_empty() || key == "Type" {
        return Err("the key must be an option of the provider".to_owned());
    }
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((key.to_owned(), value))
}
