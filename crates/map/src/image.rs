//! Pictures as bytes: PNG and `WebP`, both without loss.

use std::io::Cursor;

use image_webp::{ColorType as WebpColor, WebPDecoder, WebPEncoder};
use png::{BitDepth, ColorType, Compression, Encoder};
use serde::Serialize;

use crate::error::MapError;
use crate::pyramid::{TILE_BYTES, TILE_PIXELS};

/// The file format of tiles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TileFormat {
    /// `WebP` without loss.
    #[default]
    Webp,
    /// PNG, for programs that cannot read `WebP`.
    Png,
}

impl std::str::FromStr for TileFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "webp" => Ok(Self::Webp),
            "png" => Ok(Self::Png),
            _ => Err("not a format; the formats are webp, png".to_owned()),
        }
    }
}

impl TileFormat {
    /// Returns the ending of files, without a dot.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Webp => "webp",
            Self::Png => "png",
        }
    }

    /// Encodes the pixels of a tile: red, green, blue and alpha, row by row.
    ///
    /// # Errors
    /// Returns an error if `pixels` has the wrong length.
    pub fn encode(self, pixels: &[u8]) -> Result<Vec<u8>, MapError> {
        match self {
            Self::Webp => encode_webp(pixels, TILE_PIXELS, TILE_PIXELS, None),
            Self::Png => encode_png(pixels),
        }
    }

    /// Decodes a tile.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a picture of this format with the size of a tile.
    pub fn decode(self, bytes: &[u8]) -> Result<Vec<u8>, MapError> {
        match self {
            Self::Webp => decode_webp(bytes),
            Self::Png => decode_png(bytes),
        }
    }
}

/// Encodes a picture as `WebP`. `software` is the program that the file names as its author.
pub(crate) fn encode_webp(
    pixels: &[u8],
    width: u32,
    height: u32,
    software: Option<&str>,
) -> Result<Vec<u8>, MapError> {
    let mut out = Vec::new();
    let mut encoder = WebPEncoder::new(&mut out);
    if let Some(software) = software {
        encoder.set_xmp_metadata(xmp(software).into_bytes());
    }
    let done = encoder.encode(pixels, width, height, WebpColor::Rgba8);
    done.map_err(|error| MapError::Encoding(error.to_string()))?;
    Ok(out)
}

/// Returns the metadata of a picture.
fn xmp(software: &str) -> String {
    format!(
        "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF \
         xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"\" \
         xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" xmp:CreatorTool=\"{software}\"/></rdf:RDF>\
         </x:xmpmeta>"
    )
}

fn encode_png(pixels: &[u8]) -> Result<Vec<u8>, MapError> {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, TILE_PIXELS, TILE_PIXELS);
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(out)
}

fn wrong_tile(reason: impl std::fmt::Display) -> MapError {
    MapError::WrongTile(reason.to_string())
}

fn decode_webp(bytes: &[u8]) -> Result<Vec<u8>, MapError> {
    let mut decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(wrong_tile)?;
    if decoder.dimensions() != (TILE_PIXELS, TILE_PIXELS) {
        return Err(wrong_tile("it does not have the size of a tile"));
    }
    // Pictures without transparent pixels are stored without alpha.
    let channels = if decoder.has_alpha() { 4 } else { 3 };
    let mut pixels = vec![0; TILE_BYTES / 4 * channels];
    decoder.read_image(&mut pixels).map_err(wrong_tile)?;
    Ok(if channels == 4 { pixels } else { with_alpha(&pixels) })
}

fn decode_png(bytes: &[u8]) -> Result<Vec<u8>, MapError> {
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().map_err(wrong_tile)?;
    let info = reader.info();
    let is_tile = (info.width, info.height) == (TILE_PIXELS, TILE_PIXELS)
        && (info.color_type, info.bit_depth) == (ColorType::Rgba, BitDepth::Eight);
    if !is_tile {
        return Err(wrong_tile("it does not have the size and colours of a tile"));
    }
    let mut pixels = vec![0; TILE_BYTES];
    reader.next_frame(&mut pixels).map_err(wrong_tile)?;
    Ok(pixels)
}

fn with_alpha(pixels: &[u8]) -> Vec<u8> {
    let pixels = pixels.as_chunks::<3>().0;
    pixels.iter().flat_map(|[red, green, blue]| [*red, *green, *blue, u8::MAX]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(alpha: u8) -> Vec<u8> {
        let pixel = |number: u32| {
            let [_, a, b, c] = number.wrapping_mul(2_654_435_761).to_be_bytes();
            [a, b, c, alpha.max(if number.is_multiple_of(3) { 255 } else { 0 })]
        };
        (0..TILE_PIXELS * TILE_PIXELS).flat_map(pixel).collect()
    }

    #[test]
    fn tiles_round_trip() {
        for format in [TileFormat::Webp, TileFormat::Png] {
            for pixels in [sample(0), sample(255), vec![0; TILE_BYTES]] {
                let bytes = format.encode(&pixels).unwrap();
                assert!(format.decode(&bytes).unwrap() == pixels, "{format:?}");
            }
        }
    }

    #[test]
    fn other_bytes_are_not_tiles() {
        for format in [TileFormat::Webp, TileFormat::Png] {
            let bytes = format.encode(&sample(0)).unwrap();
            for end in (0..bytes.len()).step_by(bytes.len() / 40) {
                // The decoders fill in what is missing at the end, so some of these succeed.
                let decoded = format.decode(&bytes[..end]);
                assert!(
                    decoded.is_ok_and(|pixels| pixels.len() == TILE_BYTES) || end < bytes.len()
                );
            }
            assert!(format.decode(b"not a picture").is_err());
            let small = encode_webp(&[0; 4], 1, 1, None).unwrap();
            assert!(format.decode(&small).is_err());
        }
    }
}
