//! `hyworld man [DIR]`.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use clap_mangen::Man;

use crate::args;
use crate::exit::Exit;
use crate::output::Console;

pub(super) fn run(dir: Option<&Path>, console: &mut Console) -> anyhow::Result<Exit> {
    let Some(dir) = dir else {
        let mut page = Vec::new();
        Man::new(args::manual()).render(&mut page)?;
        console.write_all(&page)?;
        return Ok(Exit::Clean);
    };
    let name = dir.display();
    fs::create_dir_all(dir).with_context(|| format!("{name}: cannot create the folder"))?;
    clap_mangen::generate_to(args::manual(), dir)
        .with_context(|| format!("{name}: cannot write the man pages"))?;
    console.say(format_args!("wrote the man pages into {name}"))?;
    Ok(Exit::Clean)
}
