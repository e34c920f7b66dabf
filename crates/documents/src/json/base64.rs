//! Base64 with padding, as used for binary values in JSON text.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3).saturating_mul(4));
    for chunk in bytes.chunks(3) {
        let word = [0, 1, 2]
            .iter()
            .fold(0_u32, |word, &at| word << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        for digit in 0..4 {
            let index = (word >> (18 - 6 * digit)) & 63;
            let letter = ALPHABET.get(index as usize).copied().unwrap_or(b'=');
            out.push(if digit <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// Decodes base64. Returns `None` if the text is not the canonical form of any bytes.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let mut out = Vec::with_capacity(digits.len().saturating_mul(3) / 4);
    for chunk in digits.as_bytes().chunks(4) {
        let mut word = 0_u32;
        for at in 0..4 {
            let value = match chunk.get(at) {
                Some(letter) => ALPHABET.iter().position(|known| known == letter)?,
                None => 0,
            };
            word = word << 6 | u32::try_from(value).ok()?;
        }
        let [_, a, b, c] = word.to_be_bytes();
        out.extend([a, b, c].iter().take(chunk.len().saturating_sub(1)));
    }
    (encode(&out) == text).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_texts() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(encode(&[0xFB, 0xFF]), "+/8=");
    }

    #[test]
    fn round_trip_for_every_byte_and_length() {
        for len in 0..300_u32 {
            let bytes: Vec<u8> = (0..len).map(|n| n.wrapping_mul(97).to_le_bytes()[0]).collect();
            assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
    }

    #[test]
    fn other_text_is_rejected() {
        for text in ["Zg", "Zg=", "Zg===", "Zh==", "Z", "=", "Zm9v=", "Zm 9v", "Zm9-"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
