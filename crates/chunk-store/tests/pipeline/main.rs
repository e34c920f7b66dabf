//! Each rule of the pipeline, on a clock that stands still and without threads.

mod entities;
mod flags;
mod requests;
mod saving;
mod stages;
mod support;
mod unloading;
