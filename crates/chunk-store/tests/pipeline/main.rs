//! Each rule of the pipeline, on a clock that stands still and without threads.

mod entities;
mod flags;
mod newer_games;
mod requests;
mod saving;
mod stages;
mod support;
mod unloading;
