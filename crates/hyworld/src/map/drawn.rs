//! Tiles in a folder with a viewer, or in an archive.

use std::path::Path;
use std::thread;

use hyworld_files::{read_regular_text, remove_if_present, with_suffix};
use hyworld_maintenance::Progress;
use hyworld_map::{ArchiveSink, MapState, environment_color, write_map_file};

use super::bands::join;
use super::folder::{MapFolder, STATE_BYTES_MAX, WorldPage, lock_map};
use super::markers::Marker;
use super::run::TileRun;
use super::tiles::{TileReport, draw_tiles};
use crate::error::Result;

/// The suffixes of the state of an archive, and of the file that is locked while it is drawn.
const STATE_SUFFIX: &str = ".state";
const LOCK_SUFFIX: &str = ".lock";

/// What a viewer shows besides tiles.
#[derive(Clone, Debug, Default)]
pub struct PageTexts {
    /// The name of the world.
    pub name: String,
    /// The markers.
    pub markers: Vec<Marker>,
}

impl MapFolder {
    /// Draws a world into the folder: tiles that changed, and what the viewer shows.
    ///
    /// # Errors
    /// Returns an error if files cannot be written, or another program draws into the folder.
    /// Chunks that cannot be read are hatched.
    pub fn draw(
        &self,
        run: TileRun<'_>,
        texts: PageTexts,
        progress: &dyn Progress,
    ) -> Result<TileReport> {
        let _lock = self.lock()?;
        if run.scan.job_count().get() == 1 {
            self.write_viewer()?;
            return self.draw_world(run, texts, progress);
        }
        thread::scope(|scope| {
            let viewer = thread::Builder::new().spawn_scoped(scope, || self.write_viewer());
            let report = self.draw_world(run, texts, progress);
            match viewer {
                Ok(viewer) => join(viewer)?,
                Err(_) => self.write_viewer()?,
            }
            report
        })
    }

    /// Draws the tiles that changed, and writes what the viewer shows of the world.
    fn draw_world(
        &self,
        run: TileRun<'_>,
        texts: PageTexts,
        progress: &dyn Progress,
    ) -> Result<TileReport> {
        let id = Self::id_of(&texts.name);
        let sink = self.sink(&id, run.options.format);
        sink.remove_partial_files()?;
        let mut state = self.state(&id);
        if state.look != run.look() {
            self.remove_tiles(&id)?;
            state = MapState { look: run.look(), ..MapState::default() };
        }
        let mut newest = state.clone();
        let mut save = |state: &MapState| {
            if newest == *state {
                return Ok(());
            }
            newest.clone_from(state);
            self.save_state(&id, state)
        };
        let report = draw_tiles(run, &sink, state, progress, &mut save)?;
        let mut page = WorldPage::new(&id, &newest, run.positions);
        let environments = newest.environments.iter();
        let color = |name: &String| (name.clone(), environment_color(name).to_string());
        page.legend = environments.map(color).collect();
        (page.name, page.markers) = (texts.name, texts.markers);
        (page.format, page.scale) = (run.options.format.ending(), run.options.grid.scale());
        self.write_page(&page)?;
        Ok(report)
    }
}

/// Draws a world into a `PMTiles` archive with one layer. The state is written beside it, so that
/// a later run paints only what changed.
///
/// # Errors
/// Returns an error if the archive cannot be written, or another program draws it. Chunks that
/// cannot be read are hatched.
pub fn draw_archive(
    path: &Path,
    run: TileRun<'_>,
    name: &str,
    progress: &dyn Progress,
) -> Result<TileReport> {
    let _lock = lock_map(path, &with_suffix(path, LOCK_SUFFIX))?;
    let state_path = with_suffix(path, STATE_SUFFIX);
    let state = read_regular_text(&state_path, STATE_BYTES_MAX).ok();
    let state = state.and_then(|text| MapState::from_json(&text));
    // Tiles are kept only if the state tells which layer and which chunks they show.
    let is_same = |state: &MapState| {
        let layers = run.options.layers.iter().map(|layer| layer.file_name());
        path.is_file() && state.look == run.look() && state.layers.keys().cloned().eq(layers)
    };
    let state = state.filter(is_same);
    let sink = match state {
        Some(_) => ArchiveSink::open(path, run.options.format)?,
        None => ArchiveSink::create(path, run.options.format)?,
    };
    let state = state.unwrap_or_else(|| MapState { look: run.look(), ..MapState::default() });
    let mut newest = MapState::default();
    let mut save = |state: &MapState| {
        newest.clone_from(state);
        Ok(())
    };
    let report = draw_tiles(run, &sink, state, progress, &mut save)?;
    let layer = run.options.layers.first().map(ToString::to_string).unwrap_or_default();
    let metadata = serde_json::json!({
        "name": name,
        "format": run.options.format.ending(),
        "type": "overlay",
        "generator": concat!("hyworld ", env!("CARGO_PKG_VERSION")),
        "layer": layer,
        "pixels_per_block": run.options.grid.scale(),
    });
    // If the process is killed before the new state is written, there is no state.
    remove_if_present(&state_path)?;
    sink.finish(&metadata.to_string())?;
    write_map_file(&state_path, newest.to_json().as_bytes())?;
    Ok(report)
}
