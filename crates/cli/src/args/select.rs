//! Arguments of `select`, and the choice of chunks by a selection for other verbs.

use std::path::PathBuf;

use clap::Args;

use super::shapes;

/// The selection language, for the help. `docs/select.md` describes it completely.
const LANGUAGE: &str = "\
Selections:
  areas      UNIT:X,Z   UNIT:X,Z..X,Z   square:UNIT:X,Z:R   circle:UNIT:X,Z:R
             UNIT is block, chunk or region; R is a radius in that unit
             near:spawn:R   near:player:R   near:player=NAME:R   near:respawn:R
             near:marker=NAME:R (R in blocks)   border:N   x >= 3   z < -7
  lists      @FILE: CSV of MCA Selector, GeoJSON, or JSON of this verb
  names      block fluid environment entity block_entity item container text component placed_by
             block = Ore_*   block has any A,B   has all A,B   has none A,B   block[Ore_*] > 100
  numbers    size raw entities block_entities version migration kinds changes height touched
             changes >= 10   size > 64k   touched > 0
  yes or no  sealed damaged player respawn container item
  combined   AND  OR  NOT  ( )   NOT binds tightest, then AND

* in a name stands for any characters, ? for one. Values with spaces are in double quotes.
";

/// Returns the descriptions of the language and of the JSON output.
pub(super) fn help() -> String {
    format!("{LANGUAGE}\n{}", shapes::of("select"))
}

/// A choice of chunks by a selection.
#[derive(Debug, Default, Args)]
pub(crate) struct SelectionArg {
    /// Only chunks of this selection, such as `near:spawn:500 AND block = Ore_*`;
    /// `hyworld select --help` describes the language
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
