//! Finding items in the inventories of players.

use std::path::Path;

use hyworld_coords::block_coordinate;
use hyworld_maintenance::{Match, MatchKind, Wanted};
use hyworld_world::Universe;

use crate::error::Result;
use crate::players::PlayerInfo;

/// Finds the wanted items in the inventories of all players of a universe. Items of players in
/// other worlds than `world` have no position. Errors of single players are returned beside the
/// matches.
///
/// # Errors
/// Returns an error if the players cannot be listed.
pub fn find_in_players(
    universe: &Universe,
    world: &Path,
    wanted: &Wanted,
) -> Result<(Vec<Match>, Vec<String>)> {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    if wanted.items.is_empty() {
        return Ok((found, problems));
    }
    let name = world.file_name().map(|name| name.to_string_lossy().into_owned());
    for entry in universe.players().list()? {
        let player = match PlayerInfo::load(universe, entry) {
            Ok(player) => player,
            Err(error) => {
                problems.push(error.to_string());
                continue;
            }
        };
        add(&player, player.world.is_some() && player.world == name, wanted, &mut found);
        problems.extend(player.findings);
    }
    Ok((found, problems))
}

fn add(player: &PlayerInfo, is_here: bool, wanted: &Wanted, found: &mut Vec<Match>) {
    let block = |point: Option<f64>| block_coordinate(point.filter(|_| is_here)?).map(i64::from);
    let name = player.name.as_ref().unwrap_or(&player.uuid);
    for item in player.containers.iter().flat_map(|container| &container.items) {
        if wanted.items.iter().any(|glob| glob.matches(&item.id)) {
            found.push(Match {
                kind: MatchKind::Item,
                id: item.id.clone(),
                x: block(player.x),
                y: block(player.y),
                z: block(player.z),
                count: item.quantity.into(),
                holder: Some(format!("player {name}")),
            });
        }
    }
}
