//! [`Uuid`]: the id of a world or a player.

use std::fmt;
use std::str::FromStr;

use crate::json::base64;
use crate::value::Value;

/// The subtype of binary values that are UUIDs.
const SUBTYPE: u8 = 4;

/// A UUID. Its text form is hexadecimal; in JSON files it is a binary value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid([u8; 16]);

/// The error for text that is not a UUID.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a UUID: expected 32 hexadecimal digits in groups of 8-4-4-4-12")]
pub struct NotAUuid;

impl Uuid {
    /// Creates a UUID from its bytes, most significant first.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns its bytes, most significant first.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// Creates a UUID of version 4 from random bytes.
    pub const fn from_random(mut bytes: [u8; 16]) -> Self {
        let [.., version, _, variant, _, _, _, _, _, _, _] = &mut bytes;
        *version = (*version & 0x0F) | 0x40;
        *variant = (*variant & 0x3F) | 0x80;
        Self(bytes)
    }

    /// Reads it from a field of a JSON file: a binary value of subtype 4, or a string of 24 base64
    /// characters. Like the game, it does not accept the hexadecimal form there.
    pub fn from_value(value: &Value) -> Option<Self> {
        let bytes = match value {
            Value::Binary { subtype: SUBTYPE, bytes } => bytes.clone(),
            Value::String(text) if text.len() == 24 => base64::decode(text)?,
            _ => return None,
        };
        bytes.try_into().ok().map(Self)
    }

    /// Returns it as a field of a JSON file.
    pub fn to_value(self) -> Value {
        Value::Binary { subtype: SUBTYPE, bytes: self.0.to_vec() }
    }
}

/// Writes the canonical lower-case form, as in the names of player files.
impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if [4, 6, 8, 10].contains(&index) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Uuid {
    type Err = NotAUuid;

    fn from_str(text: &str) -> Result<Self, NotAUuid> {
        let groups: Vec<_> = text.split('-').collect();
        if groups.iter().map(|group| group.len()).ne([8, 4, 4, 4, 12]) {
            return Err(NotAUuid);
        }
        let digits = groups.concat();
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).ok().filter(|pair| !pair.starts_with('+'));
            *byte = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).ok_or(NotAUuid)?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "e3906f70-901e-4ea4-b205-83a09e43e414";

    #[test]
    fn text_and_values_round_trip() {
        let uuid: Uuid = TEXT.parse().unwrap();
        assert_eq!(uuid.to_string(), TEXT);
        assert_eq!(TEXT.to_uppercase().parse::<Uuid>().unwrap(), uuid);
        assert_eq!(Uuid::from_value(&uuid.to_value()).unwrap(), uuid);
        let bare = Value::String("45BvcJAeTqSyBYOgnkPkFA==".to_owned());
        assert_eq!(Uuid::from_value(&bare).unwrap(), uuid);
    }

    #[test]
    fn other_forms_are_rejected() {
        for text in ["", "e3906f70901e4ea4b20583a09e43e414", &TEXT[1..], &TEXT.replace('e', "g")] {
            assert!(text.parse::<Uuid>().is_err(), "{text}");
        }
        assert!(TEXT.replace("e3", "+3").parse::<Uuid>().is_err());
        assert!("\u{e9}3906f7-901e-4ea4-b205-83a09e43e414".parse::<Uuid>().is_err());
        let text = |text: &str| Value::String(text.to_owned());
        for value in [
            text(TEXT),
            text("45BvcJAeTqSyBYOgnkPkFA"),
            text("\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\""),
            text("AAAAAAAAAAAAAAAAAAAAAAAA"),
            Value::Binary { subtype: 3, bytes: vec![0; 16] },
            Value::Binary { subtype: 4, bytes: vec![0; 15] },
            Value::Null,
        ] {
            assert_eq!(Uuid::from_value(&value), None, "{value:?}");
        }
    }

    #[test]
    fn random_uuids_have_version_4() {
        for byte in [0, 255] {
            let text = Uuid::from_random([byte; 16]).to_string();
            assert_eq!(&text[14..15], "4", "{text}");
            assert!("89ab".contains(&text[19..20]), "{text}");
        }
    }
}
