//! The light of a section (`docs/format/section.md`).

mod tree;
mod value;

use crate::wire::Reader;
use hyworld_documents::Malformed;

pub use tree::LightTree;
pub use value::LightValue;

/// One of the two lights of a section: the local one, from light sources and the sky, or the global
/// one, which has spread.
///
/// The game uses it if its change id equals the section's counter of the same name, and recomputes
/// it otherwise.
///
/// ```text
///  0  2  change id
///  2  1  whether there is a tree
///  3  4  length of the tree in bytes: 15 for each node, and 2   (only with a tree)
///  7  n  the tree                                               (only with a tree)
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Light {
    /// The value of the section's change counter when the light was computed.
    pub change_id: u16,
    /// The light of all cells. `None` means dark everywhere or not computed yet.
    pub tree: Option<LightTree>,
}

impl Light {
    /// Returns whether it is current, given the section's change counter.
    pub fn is_current(&self, counter: u16) -> bool {
        self.change_id == counter
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let change_id = reader.u16()?;
        let flag = reader.u8()?;
        let tree = if flag == 0 { None } else { Some(LightTree::decode(flag, reader)?) };
        Ok(Self { change_id, tree })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.change_id.to_be_bytes());
        match &self.tree {
            None => out.push(0),
            Some(tree) => tree.encode(out),
        }
    }

    /// Returns how many bytes [`encode`](Self::encode) appends.
    pub(crate) fn encoded_bytes(&self) -> usize {
        3 + self.tree.as_ref().map_or(0, |tree| 4 + tree.as_bytes().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> Result<Light, Malformed> {
        let mut reader = Reader::new(bytes);
        let light = Light::decode(&mut reader)?;
        reader.finish()?;
        Ok(light)
    }

    fn encode(light: &Light) -> Vec<u8> {
        let mut out = Vec::new();
        light.encode(&mut out);
        assert_eq!(out.len(), light.encoded_bytes());
        out
    }

    /// The local light of a section of a sample world under the open sky.
    const SKY: [u8; 24] = [
        0, 0x10, 1, 0, 0, 0, 0x11, 0, 0xf0, 0, 0xf0, 0, 0xf0, 0, 0xf0, 0, 0xf0, 0, 0xf0, 0, 0xf0,
        0, 0xf0, 0,
    ];

    #[test]
    fn golden_bytes() {
        assert_eq!(encode(&Light::default()), [0, 0, 0]);
        let light = decode(&SKY).unwrap();
        assert!(light.is_current(0x10) && !light.is_current(0x11));
        let tree = light.tree.clone().unwrap();
        assert_eq!(tree.uniform(), LightValue::new(0, 0, 0, 15));
        assert_eq!(encode(&light), SKY);
        let built = LightTree::filled(LightValue::new(0, 0, 0, 15).unwrap());
        assert_eq!(encode(&Light { change_id: 0x10, tree: Some(built) }), SKY);
    }

    #[test]
    fn every_truncation_is_rejected() {
        for len in 0..SKY.len() {
            assert!(decode(&SKY[..len]).is_err(), "{len} bytes");
        }
    }

    #[test]
    fn every_flipped_bit_is_an_error_or_kept() {
        for bit in 0..SKY.len() * 8 {
            let mut bytes = SKY;
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(light) = decode(&bytes) {
                assert_eq!(encode(&light), bytes, "bit {bit}");
            }
        }
    }
}
