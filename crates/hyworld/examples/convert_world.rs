//! Copies the chunks of a world to another kind of storage: `convert_world FROM TO`.
#![expect(clippy::print_stdout, reason = "a program for a terminal")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = args.as_slice() else { return Err("usage: FROM TO".into()) };
    let report = hyworld::open(from)?.convert_to(to)?;
    println!("{} chunks copied, {} verified", report.copied, report.verified);
    Ok(())
}
