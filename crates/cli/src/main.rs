//! The `hyworld` command-line tool: arguments, tables, progress bars, exit codes. The libraries do
//! the work, so a Rust program can do everything that this tool does.

mod args;
mod commands;
mod exit;
mod interrupt;
mod output;
mod streams;

use std::process::ExitCode;

use output::Console;

fn main() -> ExitCode {
    let cli = match args::parse() {
        Ok(cli) => cli,
        Err(exit) => return exit,
    };
    let mut console = Console::new(&cli.global);
    let world = cli.global.world.as_deref();
    let outcome = commands::run(cli.command, world, &mut console).and_then(|exit| {
        console.flush_data()?;
        Ok(exit)
    });
    match outcome {
        Ok(exit) => exit.into(),
        Err(error) => exit::report(&error).into(),
    }
}
