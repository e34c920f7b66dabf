//! Colours as a small text table, so that the game's assets are read only once.

use std::collections::HashMap;
use std::str::FromStr;

use crate::colors::{BlockColor, Colors, EnvironmentColor, FluidColor, Source};
use crate::rgb::Rgb;

/// The first line of a table. The number changes with the format.
const HEAD: &str = "hyworld colours 1";

impl Colors {
    /// Returns a table of all colours, one line each, sorted.
    pub fn to_table(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        let shown = |color: Option<Rgb>| color.map_or_else(|| "-".to_owned(), |it| it.to_string());
        for (name, block) in &self.blocks {
            let BlockColor { tint, biome_percent, particle, texture, is_transparent, source } =
                block;
            let (particle, texture) = (shown(*particle), shown(*texture));
            let transparent = u8::from(*is_transparent);
            lines.push(format!(
                "b\t{name}\t{tint}\t{biome_percent}\t{particle}\t{texture}\t{transparent}\t{source}"
            ));
        }
        for (name, FluidColor { particle, is_water, source }) in &self.fluids {
            lines.push(format!("f\t{name}\t{particle}\t{}\t{source}", u8::from(*is_water)));
        }
        for (name, EnvironmentColor { water, source }) in &self.environments {
            lines.push(format!("e\t{name}\t{water}\t{source}"));
        }
        // A name with such characters could not be read back.
        lines.retain(|line| !line.contains(['\n', '\r']));
        lines.sort_unstable();
        format!("{HEAD} {}\n{}\n", lines.len(), lines.join("\n"))
    }

    /// Parses a table. Returns `None` if it is damaged or of another version.
    pub fn from_table(text: &str) -> Option<Self> {
        let (head, rest) = text.strip_suffix('\n')?.split_once('\n')?;
        let count: usize = head.strip_prefix(HEAD)?.trim().parse().ok()?;
        let lines: Vec<&str> = rest.split('\n').filter(|line| !line.is_empty()).collect();
        if lines.len() != count {
            return None;
        }
        let (mut blocks, mut fluids) = (HashMap::new(), HashMap::new());
        let mut environments = HashMap::new();
        for line in lines {
            let parts: Vec<&str> = line.split('\t').collect();
            match parts.as_slice() {
                ["b", name, rest @ ..] => drop(blocks.insert((*name).to_owned(), block(rest)?)),
                ["f", name, particle, is_water, from] => {
                    let particle = particle.parse().ok()?;
                    let (is_water, source) = (flag(is_water)?, source(from)?);
                    fluids.insert((*name).to_owned(), FluidColor { particle, is_water, source });
                }
                ["e", name, water, from] => {
                    let (water, source) = (water.parse().ok()?, source(from)?);
                    environments.insert((*name).to_owned(), EnvironmentColor { water, source });
                }
                _ => return None,
            }
        }
        Some(Self { blocks, fluids, environments })
    }
}

fn block(parts: &[&str]) -> Option<BlockColor> {
    let [tint, biome_percent, particle, texture, is_transparent, from] = parts else { return None };
    Some(BlockColor {
        tint: tint.parse().ok()?,
        biome_percent: biome_percent.parse().ok().filter(|percent| *percent <= 100)?,
        particle: optional(particle).ok()?,
        texture: optional(texture).ok()?,
        is_transparent: flag(is_transparent)?,
        source: source(from)?,
    })
}

fn optional(text: &str) -> Result<Option<Rgb>, <Rgb as FromStr>::Err> {
    if text == "-" { Ok(None) } else { text.parse().map(Some) }
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

fn source(text: &str) -> Option<Source> {
    let known = [Source::Assets, Source::Mod, Source::Family, Source::Hash];
    known.into_iter().find(|source| source.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Colors {
        let block = BlockColor {
            tint: Rgb([1, 2, 3]),
            biome_percent: 40,
            particle: Some(Rgb([4, 5, 6])),
            texture: None,
            is_transparent: true,
            source: Source::Mod,
        };
        let water = FluidColor { particle: Rgb([7; 3]), is_water: true, source: Source::Assets };
        let environment = EnvironmentColor { water: Rgb([9, 8, 7]), source: Source::Assets };
        Colors {
            blocks: [("rock stone".to_owned(), block)].into(),
            fluids: [("water".to_owned(), water)].into(),
            environments: [("env".to_owned(), environment)].into(),
        }
    }

    #[test]
    fn tables_round_trip() {
        for colors in [sample(), Colors::default()] {
            assert_eq!(Colors::from_table(&colors.to_table()), Some(colors));
        }
    }

    #[test]
    fn damaged_tables_are_rejected() {
        let text = sample().to_table();
        for end in 0..text.len() {
            assert_eq!(Colors::from_table(&text[..end]), None, "{}", &text[..end]);
        }
        for (from, to) in [("colours 1", "colours 2"), ("\t40\t", "\t101\t"), ("#010203", "#0102")]
        {
            assert_eq!(Colors::from_table(&text.replacen(from, to, 1)), None, "{from}");
        }
    }
}
