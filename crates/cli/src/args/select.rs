//! Arguments of `select`, and the choice of chunks by a selection for other verbs.

use std::path::PathBuf;

use clap::Args;

/// A choice of chunks by a selection.
#[derive(Debug, Default, Args)]
pub(crate) struct SelectionArg {
    /// Only chunks of this selection, such as `near:spawn:500 AND block = Ore_*`; docs/select.md
    /// describes the language
    #[arg(long, value_name = "QUERY", conflicts_with = "query_file")]
    pub(crate) select: Option<String>,
    /// Read the selection from this file; - is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) query_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct SelectArgs {
    /// A world, a folder of region files, a region file, rocksdb:PATH, `s3://BUCKET/PREFIX`, a
    /// backup zip, or a universe or save with one world
    #[arg(value_name = "WORLD")]
    pub(crate) path: PathBuf,
    /// The selection, in quotes
    #[arg(
        value_name = "QUERY",
        required_unless_present = "query_file",
        allow_hyphen_values = true
    )]
    pub(crate) query: Option<String>,
    /// Read the selection from this file; - is stdin
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    pub(crate) query_file: Option<PathBuf>,
    /// Print the chunks as lines of CSV that MCA Selector reads too
    #[arg(long, conflicts_with_all = ["geojson", "json"])]
    pub(crate) csv: bool,
    /// Print the area of the chunks as GeoJSON, in block coordinates
    #[arg(long, conflicts_with = "json")]
    pub(crate) geojson: bool,
    /// Print for each chunk its touched score and the reasons for it
    #[arg(long, conflicts_with_all = ["csv", "geojson"])]
    pub(crate) explain: bool,
    /// Print one JSON object with all chunks; with --explain, one for each chunk
    #[arg(long)]
    pub(crate) json: bool,
}
