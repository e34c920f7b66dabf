//! `hyworld completions SHELL`.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::exit::Exit;
use crate::output::Console;

pub(super) fn run(shell: Shell, console: &mut Console) -> anyhow::Result<Exit> {
    // Buffered, because the generator panics if writing fails.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hyworld", &mut script);
    console.write_all(&script)?;
    Ok(Exit::Clean)
}
