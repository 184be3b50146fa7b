//! Icon files (ICO): finds the picture in a file that has to be checked.
//!
//! An icon holds several pictures, each a bitmap or a PNG. The icon decoder accepts only PNG with transparency, but many
//! tools write others (grey, RGB, palette). This module finds a PNG in the icon, so that it can be decoded as a plain PNG.

use image::ImageDecoder;

/// Number of bytes before the first entry of the directory; the next constant is the length of an entry.
const HEAD_BYTES: usize = 6;
const ENTRY_BYTES: usize = 16;
const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Longest side that the directory can express; longer sides are entered as this one.
const NAMED_SIDE: u32 = 256;

/// A PNG inside an icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IconPng<'a> {
    /// The bytes of the icon from the start of the PNG on.
    pub(super) bytes: &'a [u8],
    width: u32,
    height: u32,
}

impl IconPng<'_> {
    /// Returns true when the PNG has the size given in the directory.
    pub(super) fn has_size_of(&self, decoder: &impl ImageDecoder) -> bool {
        let (width, height) = decoder.dimensions();
        (width.min(NAMED_SIDE), height.min(NAMED_SIDE)) == (self.width, self.height)
    }
}

/// An entry of the icon's directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct IconEntry {
    bits_per_pixel: u16,
    pixels: u32,
    width: u32,
    height: u32,
    offset: usize,
}

impl IconEntry {
    fn read(entry: &[u8]) -> Option<Self> {
        let side = |at: usize| entry.get(at).map(|side| if *side == 0 { NAMED_SIDE } else { (*side).into() });
        let (width, height) = (side(0)?, side(1)?);
        let offset = u32::from_le_bytes(entry.get(12..16)?.try_into().ok()?);
        Some(Self {
            bits_per_pixel: u16::from_le_bytes(entry.get(6..8)?.try_into().ok()?),
            pixels: width * height,
            width,
            height,
            offset: usize::try_from(offset).ok()?,
        })
    }
}

/// Returns the picture with the most colours, the largest of these if there are several. `None` if it is no PNG.
pub(super) fn best_png(icon: &[u8]) -> Option<IconPng<'_>> {
    let count = u16::from_le_bytes(icon.get(4..HEAD_BYTES)?.try_into().ok()?);
    let entries = icon.get(HEAD_BYTES..)?.chunks_exact(ENTRY_BYTES).take(usize::from(count));
    let best = entries.filter_map(IconEntry::read).max()?;
    let bytes = icon.get(best.offset..).filter(|bytes| bytes.starts_with(PNG_SIGNATURE))?;
    Some(IconPng { bytes, width: best.width, height: best.height })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds an icon with these entries (side, bits per pixel, offset) and a PNG signature at offset 40.
    fn icon(entries: &[(u8, u8, u8)]) -> Vec<u8> {
        let mut bytes = vec![0, 0, 1, 0, u8::try_from(entries.len()).unwrap(), 0];
        for (side, bits, offset) in entries {
            bytes.extend([*side, *side, 0, 0, 1, 0, *bits, 0, 8, 0, 0, 0, *offset, 0, 0, 0]);
        }
        bytes.resize(40, 0);
        bytes.extend(PNG_SIGNATURE);
        bytes
    }

    #[test]
    fn the_best_picture_of_an_icon_is_found() {
        let side = |bytes: &[u8]| best_png(bytes).map(|png| png.width);
        assert_eq!(side(&icon(&[(16, 32, 40), (32, 8, 0)])), Some(16), "colours count more than size");
        assert_eq!(side(&icon(&[(16, 32, 40), (0, 32, 40)])), Some(256));
        assert_eq!(side(&icon(&[(16, 32, 0)])), None, "a bitmap");
        assert_eq!(side(&icon(&[(16, 32, 255)])), None, "behind the end");
        assert_eq!((side(&icon(&[])), side(b"\0\0\x01\0")), (None, None));
    }
}
