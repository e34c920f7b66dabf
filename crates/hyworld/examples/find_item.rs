//! Lists the chests and benches that hold an item: `find_item PATH ITEM`.
#![expect(clippy::print_stdout, reason = "a program for a terminal")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, item] = args.as_slice() else { return Err("usage: PATH ITEM".into()) };
    for container in hyworld::open(path)?.containers() {
        let container = container?;
        if let (Some(at), count @ 1..) = (container.block, container.count(item)) {
            println!("{count} at {},{},{}", at.x, at.y, at.z);
        }
    }
    Ok(())
}
