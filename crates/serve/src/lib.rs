//! A live map of a world over HTTP.
//!
//! [`LiveMap`] draws tiles in the background and when they are asked for, and watches the region
//! files for changes. [`Server`] serves it with the viewer of `hyworld map`:
//!
//! | path | answer |
//! |---|---|
//! | `/`, `/viewer.js`, ... | the viewer |
//! | `/map.js`, `/worlds/WORLD.js` | what the viewer shows |
//! | `/tiles/WORLD/LAYER/LEVEL/X/Z.webp` | a tile |
//! | `/events` | a stream of changes |
//! | `/api/v1/info`, `chunk?x=&z=`, `block?x=&y=&z=` | JSON, from an [`Api`] |
//! | `/metrics` | numbers for Prometheus |
//!
//! No path of a request reaches the disk: requests are parsed into known names and numbers.

mod access;
mod answer;
mod api;
mod events;
mod head;
mod live;
mod metrics;
mod request;
mod server;
mod watch;

pub use api::{Api, ApiError, NoApi};
#[doc(hidden)]
pub use head::check_head;
pub use live::{LiveMap, LiveOptions};
pub use server::Server;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
