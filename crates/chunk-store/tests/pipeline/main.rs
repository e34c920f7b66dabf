//! Tests of each rule of the store, on a test clock and without threads.

mod dropping;
mod entities;
mod entity_edits;
mod flags;
mod newer_games;
mod requests;
mod saving;
mod stages;
mod support;
mod unloading;
