//! Items in containers of block entities and entities.

use std::io::{self, Write};

use hyworld_chunk::{ChunkContainer, ContainerOwner, ReadableChunk};

use super::contents::position;
use crate::output::table::Table;
use crate::output::text;

/// How many stacks are listed.
const STACKS_MAX: usize = 48;

/// The maximum width of the name of an item or entity.
const NAME_CHARS: usize = 44;

pub(super) fn write(out: &mut impl Write, readable: &ReadableChunk<'_>) -> io::Result<()> {
    let Ok(containers) = readable.chunk().containers() else { return Ok(()) };
    let stacks: usize = containers.iter().map(|container| container.items.iter().count()).sum();
    if stacks == 0 {
        return Ok(());
    }
    let mut table = Table::new("items in|kind|>slot|>quantity|item");
    for container in &containers {
        let mut owner = [owner(readable, container), container.role.name().to_owned()];
        for (slot, stack) in container.items.iter() {
            if table.len() == STACKS_MAX {
                break;
            }
            let [whose, kind] = std::mem::take(&mut owner);
            let item = text::short(stack.id(), NAME_CHARS);
            table.row([whose, kind, slot.to_string(), stack.quantity().to_string(), item]);
        }
    }
    writeln!(out)?;
    table.write(out, "  ")?;
    match stacks.saturating_sub(table.len()) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more: --json has them all"),
    }
}

fn owner(readable: &ReadableChunk<'_>, container: &ChunkContainer<'_>) -> String {
    match container.owner {
        ContainerOwner::Block { at, .. } => position(readable, at),
        ContainerOwner::Entity(entity) => {
            let name = entity.display_name().or_else(|| entity.role_name());
            text::short(name.or_else(|| entity.model()).unwrap_or("an entity"), NAME_CHARS / 2)
        }
    }
}
