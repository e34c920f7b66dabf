//! Arguments of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use hyworld::MarkerChoice;
use hyworld_map::{Layer, Palette};

use super::map::ColorAssetsArg;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// A world, a folder of region files, a region file, rocksdb:PATH, `s3://BUCKET/PREFIX`, a
    /// backup zip, or a universe or save (all of its worlds)
    #[arg(value_name = "WORLD")]
    pub(crate) path: PathBuf,
    /// The address and port to listen on; port 0 lets the system choose one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// Listen on an address that other machines can reach. Everyone who reaches it sees the map and
    /// can read every chunk through /api
    #[arg(long)]
    pub(crate) public: bool,
    /// Accept requests for this host name, such as that of a proxy in front; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Let pages of other sites show the map in a frame
    #[arg(long)]
    pub(crate) allow_framing: bool,
    /// What to show: surface, height, environment, light, depth, slice, caves, changes, size or
    /// damage; repeatable, or separated by commas
    #[arg(
        long = "layer",
        value_name = "NAME",
        default_value = "surface,height,environment",
        value_delimiter = ','
    )]
    pub(crate) layers: Vec<Layer>,
    /// Colours of blocks, as for `map`
    #[arg(long, value_name = "NAME", default_value = "game")]
    pub(crate) palette: Palette,
    #[command(flatten)]
    pub(crate) assets: ColorAssetsArg,
    /// Show more markers: players, containers, entities, separated by commas
    #[arg(long, value_name = "KINDS")]
    pub(crate) markers: Option<MarkerChoice>,
    /// Keep tiles in this folder, so that the next start draws only what changed
    /// [default: a temporary folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cache: Option<PathBuf>,
    /// How often to look for changes, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 2,
        value_parser = clap::value_parser!(u64).range(1..=3600)
    )]
    pub(crate) poll: u64,
}
