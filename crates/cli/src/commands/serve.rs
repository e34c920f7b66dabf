//! `serve WORLD`: a live map over HTTP.

use crate::args::serve::ServeArgs;
use crate::exit::{self, Exit};
use crate::output::Console;

/// Reports that this build has no server.
#[cfg(not(feature = "serve"))]
pub(super) fn run(_args: &ServeArgs, _console: &mut Console) -> anyhow::Result<Exit> {
    let text = "this build has no `serve`; build it with `--features serve`";
    Err(exit::usage(text.to_owned()))
}

#[cfg(feature = "serve")]
pub(super) use live::run;

#[cfg(feature = "serve")]
mod live {
    use std::num::NonZeroUsize;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::time::Duration;

    use hyworld::{Location, StoredChunk};
    use hyworld_coords::{BlockPos, ChunkPos};
    use hyworld_map::Layer;
    use hyworld_serve::{Api, ApiError, LiveMap, LiveOptions, Server};

    use super::{Console, Exit, ServeArgs, exit};
    use crate::args::chunk::{BlockArgs, ChosenChunks, ChunkArgs};
    use crate::args::info::InfoArgs;
    use crate::args::upgrade::AssetsArg;
    use crate::commands::{block, chunk, info, upgrade};
    use crate::interrupt;

    pub(in crate::commands) fn run(
        args: &ServeArgs,
        console: &mut Console,
    ) -> anyhow::Result<Exit> {
        let is_local = args.listen.ip().is_loopback();
        if !is_local && !args.public {
            let text = "other machines can reach this address; add --public if they may";
            return Err(exit::usage(format!("--listen {}: {text}", args.listen)));
        }
        if args.layers.iter().any(|layer| matches!(layer, Layer::Age | Layer::Diff)) {
            return Err(exit::usage("the layers age and diff are only for `map`".to_owned()));
        }
        // Clients on other machines cannot use the paths.
        let has_paths = is_local && !args.public && args.host.is_empty();
        let options = LiveOptions {
            layers: args.layers.clone(),
            palette: args.palette,
            assets: assets(args)?,
            markers: args.markers.unwrap_or_default(),
            has_paths,
            cache: args.cache.clone(),
            poll: Duration::from_secs(args.poll),
            jobs: console.jobs(),
        };
        let map = Arc::new(LiveMap::open(&args.path, options)?);
        let (path, jobs, without_paths) = (args.path.clone(), console.jobs(), !has_paths);
        let api = Arc::new(Verbs { path, jobs, without_paths });
        let bound = Server::bind(args.listen, Arc::clone(&map), api);
        let server = bound.map_err(|error| cannot_listen(args, &error))?;
        let server = server.hosts(args.host.clone()).allow_framing(args.allow_framing);
        let names: Vec<&str> = map.names().collect();
        console.report(format_args!("http://{}: {}", server.address(), names.join(", ")))?;
        console.flush_data()?;
        console.say(format_args!("press Ctrl-C to stop"))?;
        let stop = interrupt::catch()?;
        let ended = server.run_until(&stop);
        map.close();
        ended?;
        Ok(Exit::Clean)
    }

    fn assets(args: &ServeArgs) -> anyhow::Result<Option<PathBuf>> {
        let folder = Location::source(&args.path).ok().and_then(|it| it.world_folder());
        let around: &Path = folder.as_deref().unwrap_or(&args.path);
        upgrade::assets(args.assets.assets.as_deref(), around)
    }

    fn cannot_listen(args: &ServeArgs, error: &std::io::Error) -> anyhow::Error {
        exit::usage(format!("--listen {}: {error}; choose another port", args.listen))
    }

    /// Answers with the JSON of the verbs `info`, `chunk` and `block`.
    struct Verbs {
        path: PathBuf,
        jobs: NonZeroUsize,
        without_paths: bool,
    }

    impl Verbs {
        /// Looks for the chunk first, because the verbs also print what is missing.
        fn find(&self, at: ChunkPos) -> Result<(), ApiError> {
            let found = StoredChunk::find(&self.path, at);
            let missing = |_| ApiError::NotFound("no chunk is stored at this position".to_owned());
            found.map(drop).map_err(missing)
        }

        fn answer(
            &self,
            verb: impl FnOnce(&mut Console) -> anyhow::Result<Exit>,
        ) -> Result<Vec<u8>, ApiError> {
            let (mut console, buffer) = Console::in_memory(self.jobs);
            let ended = verb(&mut console);
            drop(console);
            let bytes = buffer.take();
            match ended {
                Ok(_) if !bytes.is_empty() => Ok(bytes),
                Ok(_) => Err(ApiError::NotFound("no chunk is stored at this position".to_owned())),
                Err(error) if exit::code_of(&error) == Exit::Failure => {
                    Err(ApiError::Failed("the world cannot be read".to_owned()))
                }
                Err(_) => Err(ApiError::NotFound("this position cannot be read".to_owned())),
            }
        }
    }

    impl Api for Verbs {
        fn info(&self) -> Result<Vec<u8>, ApiError> {
            let (path, without_paths) = (self.path.clone(), self.without_paths);
            let args = InfoArgs { path, fast: true, json: true, without_paths };
            self.answer(|console| info::run(&args, console))
        }

        fn chunk(&self, at: ChunkPos) -> Result<Vec<u8>, ApiError> {
            self.find(at)?;
            let args = ChunkArgs {
                path: self.path.clone(),
                chosen: ChosenChunks { chunks: vec![at], area: None },
                assets: AssetsArg { assets: None },
                component: None,
                bson: None,
                json: true,
                without_paths: self.without_paths,
            };
            self.answer(|console| chunk::run(&args, console))
        }

        fn block(&self, at: BlockPos) -> Result<Vec<u8>, ApiError> {
            self.find(at.chunk())?;
            let BlockPos { x, y, z } = at;
            let args = BlockArgs {
                path: self.path.clone(),
                x,
                y,
                z,
                assets: AssetsArg { assets: None },
                json: true,
                without_paths: self.without_paths,
            };
            self.answer(|console| block::run(&args, console))
        }
    }
}
