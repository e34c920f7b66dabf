//! Undo bundles from short inputs: the fuzzer chooses kinds and payloads, and this module adds
//! marks, numbers and checksums. Written from `docs/format/undo.md`, without the code of the crate.

use sha2::{Digest, Sha256};

const MAGIC: &[u8] = b"HYUNDO02";
const MARK: &[u8] = b"fuzzmark";
const HEAD_BYTES: usize = 25;
const CHECKSUM_BYTES: usize = 16;

/// Builds a bundle from records: the kind, two bytes of length, the payload. Bit 7 of a kind
/// damages the record.
pub fn join(mut input: &[u8]) -> Vec<u8> {
    let (mut bundle, mut number) = (MAGIC.to_vec(), 0_u64);
    while let Some((head, rest)) = input.split_first_chunk::<3>() {
        let length = usize::from(u16::from_be_bytes([head[1], head[2]])).min(rest.len());
        let (payload, rest) = rest.split_at(length);
        let start = bundle.len();
        add(&mut bundle, number, head[0] & 0x7f, payload);
        if head[0] & 0x80 != 0 {
            bundle[start + 30.min(HEAD_BYTES + length)] ^= 1;
        }
        (input, number) = (rest, number + 1);
    }
    bundle
}

fn add(bundle: &mut Vec<u8>, number: u64, kind: u8, payload: &[u8]) {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    let mut head = [MARK, &[kind], &number.to_be_bytes(), &length.to_be_bytes()].concat();
    let short: [u8; 32] = Sha256::digest(&head).into();
    head.extend_from_slice(&short[..4]);
    let sum: [u8; 32] = Sha256::new().chain_update(&head).chain_update(payload).finalize().into();
    bundle.extend_from_slice(&head);
    bundle.extend_from_slice(payload);
    bundle.extend_from_slice(&sum[..CHECKSUM_BYTES]);
}

/// Splits an intact bundle into the input for [`join`]. Returns `None` for payloads that are too
/// long.
pub fn split(bundle: &[u8]) -> Option<Vec<u8>> {
    let (mut input, mut rest) = (Vec::new(), bundle.strip_prefix(MAGIC)?);
    while !rest.is_empty() {
        let (head, after) = rest.split_first_chunk::<HEAD_BYTES>()?;
        let length = u32::from_be_bytes([head[17], head[18], head[19], head[20]]);
        let short = u16::try_from(length).ok()?.to_be_bytes();
        let payload = after.get(..usize::try_from(length).ok()?)?;
        input.extend_from_slice(&[head[8], short[0], short[1]]);
        input.extend_from_slice(payload);
        rest = after.get(payload.len() + CHECKSUM_BYTES..)?;
    }
    Some(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_split_and_joined() {
        let input = b"H\0\x03{} E\0\x00";
        let bundle = join(input);
        assert_eq!(bundle.len(), 8 + 2 * 41 + 3);
        assert_eq!(split(&bundle).unwrap(), input);
        assert_ne!(join(b"\xc8\0\x03{} E\0\x00"), bundle);
    }
}
