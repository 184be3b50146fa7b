//! Detects the kind of an uploaded file by its content alone, and brings it into its stored form (contract 4.16).
//!
//! File names and declared types are not trusted. Images are decoded within limits to check that they are complete. PNG and
//! lossless WebP are encoded again, which drops hidden data and keeps every pixel. Other files are stored unchanged: JPEG
//! and lossy WebP would lose quality, a JPEG's orientation is in its metadata, ICO holds several pictures, and animations
//! have several frames. An SVG is rewritten by `svg`. Nothing here is async: decoding takes long, so the caller runs it on a
//! thread.

use std::io::Cursor;

use image::codecs::png::{CompressionType, FilterType, PngDecoder, PngEncoder};
use image::codecs::webp::{WebPDecoder, WebPEncoder};
use image::{DynamicImage, ImageDecoder, ImageEncoder, ImageFormat, ImageReader, ImageResult, Limits};

use crate::http::kit::rule::FieldRule;
use crate::http::v1::assets::icon::best_png;
use crate::http::v1::assets::svg::{SvgError, sanitise};
use crate::model::asset::AssetKind;

/// Maximum width and height of an image, in pixels.
const MAX_SIDE: u32 = 8_192;
/// Maximum number of pixels of an image.
const MAX_PIXELS: u64 = 40_000_000;
/// Maximum memory of a decoder, in bytes: every pixel with four channels of two bytes, and the same size again for working
/// space.
const MAX_DECODER_BYTES: u64 = MAX_PIXELS * 16;

const MIB: usize = 1024 * 1024;

/// A file type that can be uploaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// JPEG (`image/jpeg`).
    Jpeg,
    /// PNG (`image/png`).
    Png,
    /// WebP (`image/webp`), which may be animated.
    WebP,
    /// Windows icon (`image/x-icon`).
    Ico,
    /// SVG (`image/svg+xml`).
    Svg,
}

/// A file as it is stored and served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssetPicture {
    /// Media type, detected by content.
    pub content_type: &'static str,
    /// Content of the stored file.
    pub bytes: Vec<u8>,
}

impl FileType {
    /// Returns the type that the first bytes show; a text that starts like XML counts as SVG. `None` for an unknown type.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match bytes {
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::WebP),
            [0, 0, 1, 0, ..] => Some(Self::Ico),
            _ if text.trim_ascii_start().starts_with(b"<") => Some(Self::Svg),
            _ => None,
        }
    }

    const fn content_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::WebP => "image/webp",
            Self::Ico => "image/x-icon",
            Self::Svg => "image/svg+xml",
        }
    }
}

/// Returns the maximum size of a file of this kind, in bytes and in MiB.
#[must_use]
pub const fn size_limit(kind: AssetKind) -> (usize, u32) {
    match kind {
        AssetKind::Logo | AssetKind::LogoDark => (2 * MIB, 2),
        AssetKind::Favicon => (MIB, 1),
    }
}

const fn allowed(kind: AssetKind) -> (&'static [FileType], &'static str) {
    match kind {
        AssetKind::Logo | AssetKind::LogoDark => {
            (&[FileType::Jpeg, FileType::Png, FileType::WebP, FileType::Svg], "JPEG, PNG, WebP, SVG")
        }
        AssetKind::Favicon => (&[FileType::Ico, FileType::Png, FileType::Svg], "ICO, PNG, SVG"),
    }
}

/// Converts a file into its stored form.
///
/// # Errors
///
/// The rule that the file breaks (contract 5.3).
pub fn accept(kind: AssetKind, bytes: Vec<u8>) -> Result<AssetPicture, FieldRule> {
    if bytes.is_empty() {
        return Err(FieldRule::FileEmpty);
    }
    let (most, mebibytes) = size_limit(kind);
    if bytes.len() > most {
        return Err(FieldRule::FileSize(mebibytes));
    }
    let (types, names) = allowed(kind);
    let file_type = FileType::of(&bytes).filter(|found| types.contains(found));
    let file_type = file_type.ok_or(FieldRule::FileType(names))?;
    let bytes = match file_type {
        FileType::Svg => sanitise(&bytes).map_err(|error| match error {
            SvgError::Unreadable => FieldRule::FileImage,
            SvgError::Refused => FieldRule::FileSvg,
        })?,
        FileType::Png => rewritten_png(bytes)?,
        FileType::WebP => rewritten_webp(bytes)?,
        FileType::Jpeg => checked(bytes, ImageFormat::Jpeg)?,
        FileType::Ico => checked_icon(bytes)?,
    };
    Ok(AssetPicture { content_type: file_type.content_type(), bytes })
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    limits
}

/// Checks that the header of an image declares a size within the limits.
fn within_limits<D: ImageDecoder>(decoder: ImageResult<D>) -> Result<D, FieldRule> {
    let mut decoder = decoder.map_err(|_| FieldRule::FileImage)?;
    let (width, height) = decoder.dimensions();
    let is_sound = width >= 1
        && height >= 1
        && width <= MAX_SIDE
        && height <= MAX_SIDE
        && u64::from(width) * u64::from(height) <= MAX_PIXELS;
    if !is_sound || decoder.set_limits(limits()).is_err() {
        return Err(FieldRule::FileImage);
    }
    Ok(decoder)
}

fn decoded(decoder: impl ImageDecoder) -> Result<DynamicImage, FieldRule> {
    DynamicImage::from_decoder(decoder).map_err(|_| FieldRule::FileImage)
}

/// Returns the same bytes if the image can be decoded.
fn checked(bytes: Vec<u8>, format: ImageFormat) -> Result<Vec<u8>, FieldRule> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes.as_slice()), format);
    reader.limits(limits());
    decoded(within_limits(reader.into_decoder())?)?;
    Ok(bytes)
}

/// Returns the same bytes if the best picture in the icon can be decoded.
fn checked_icon(bytes: Vec<u8>) -> Result<Vec<u8>, FieldRule> {
    let Some(png) = best_png(&bytes) else { return checked(bytes, ImageFormat::Ico) };
    let decoder = within_limits(PngDecoder::with_limits(Cursor::new(png.bytes), limits()))?;
    if !png.has_size_of(&decoder) {
        return Err(FieldRule::FileImage);
    }
    decoded(decoder)?;
    Ok(bytes)
}

fn rewritten_png(bytes: Vec<u8>) -> Result<Vec<u8>, FieldRule> {
    let decoder = PngDecoder::with_limits(Cursor::new(bytes.as_slice()), limits());
    let mut decoder = within_limits(decoder)?;
    let is_animated = decoder.is_apng().map_err(|_| FieldRule::FileImage)?;
    let colours = decoder.icc_profile().ok().flatten();
    let image = decoded(decoder)?;
    if is_animated {
        return Ok(bytes);
    }
    let mut rewritten = Vec::new();
    let mut encoder =
        PngEncoder::new_with_quality(&mut rewritten, CompressionType::Best, FilterType::Adaptive);
    let colours_kept = colours.is_none_or(|profile| encoder.set_icc_profile(profile).is_ok());
    Ok(if colours_kept && image.write_with_encoder(encoder).is_ok() { rewritten } else { bytes })
}

fn rewritten_webp(bytes: Vec<u8>) -> Result<Vec<u8>, FieldRule> {
    let mut decoder = within_limits(WebPDecoder::new(Cursor::new(bytes.as_slice())))?;
    let is_animated = decoder.has_animation();
    let colours = decoder.icc_profile().ok().flatten();
    let image = decoded(decoder)?;
    // Name of the first chunk of a plain lossless file; an extended file starts with VP8X.
    let is_lossless = bytes.get(12..16) == Some(b"VP8L");
    if is_animated || !is_lossless {
        return Ok(bytes);
    }
    let mut rewritten = Vec::new();
    let mut encoder = WebPEncoder::new_lossless(&mut rewritten);
    let colours_kept = colours.is_none_or(|profile| encoder.set_icc_profile(profile).is_ok());
    Ok(if colours_kept && image.write_with_encoder(encoder).is_ok() { rewritten } else { bytes })
}

#[cfg(test)]
mod tests {
    use image::{ExtendedColorType, Rgb, RgbImage};
    use rstest::rstest;

    use super::*;

    fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let image = RgbImage::from_pixel(width, height, Rgb([200, 30, 30]));
        let image = DynamicImage::ImageRgb8(image);
        let image =
            if format == ImageFormat::Ico { DynamicImage::ImageRgba8(image.to_rgba8()) } else { image };
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    /// Returns a PNG whose header declares this size, without the corresponding image data.
    fn promised(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = encoded(1, 1, ImageFormat::Png);
        bytes[16..20].copy_from_slice(&width.to_be_bytes());
        bytes[20..24].copy_from_slice(&height.to_be_bytes());
        let crc = crc32fast::hash(&bytes[12..29]);
        bytes[29..33].copy_from_slice(&crc.to_be_bytes());
        bytes
    }

    const LOGO_TYPES: FieldRule = FieldRule::FileType("JPEG, PNG, WebP, SVG");
    const ICON_TYPES: FieldRule = FieldRule::FileType("ICO, PNG, SVG");

    /// Contract 4.16: allowed types by kind of file.
    #[rstest]
    #[case(ImageFormat::Jpeg, Ok("image/jpeg"), Err(ICON_TYPES))]
    #[case(ImageFormat::Png, Ok("image/png"), Ok("image/png"))]
    #[case(ImageFormat::WebP, Ok("image/webp"), Err(ICON_TYPES))]
    #[case(ImageFormat::Ico, Err(LOGO_TYPES), Ok("image/x-icon"))]
    fn image_types_are_detected_by_content(
        #[case] format: ImageFormat,
        #[case] logo: Result<&str, FieldRule>,
        #[case] icon: Result<&str, FieldRule>,
    ) {
        let bytes = encoded(3, 2, format);
        for (kind, expected) in
            [(AssetKind::Logo, &logo), (AssetKind::LogoDark, &logo), (AssetKind::Favicon, &icon)]
        {
            let found = accept(kind, bytes.clone()).map(|picture| picture.content_type);
            assert_eq!(found, *expected, "{kind:?}");
        }
    }

    /// Contract 4.16 and 5.3: each reason for a refusal has its own text.
    #[rstest]
    #[case(Vec::new(), FieldRule::FileEmpty)]
    #[case(vec![b' '; 2 * MIB + 1], FieldRule::FileSize(2))]
    #[case(vec![b' '; 2 * MIB], LOGO_TYPES)]
    #[case(b"GIF89a".to_vec(), LOGO_TYPES)]
    #[case(b"just text".to_vec(), LOGO_TYPES)]
    #[case(b"\x89PNG\r\n\x1a\n".to_vec(), FieldRule::FileImage)]
    #[case(encoded(9, 9, ImageFormat::Png)[..60].to_vec(), FieldRule::FileImage)]
    #[case(encoded(9, 9, ImageFormat::Jpeg)[..99].to_vec(), FieldRule::FileImage)]
    #[case(promised(8_193, 1), FieldRule::FileImage)]
    #[case(promised(1, 8_193), FieldRule::FileImage)]
    #[case(promised(8_000, 5_001), FieldRule::FileImage)]
    #[case(promised(0, 1), FieldRule::FileImage)]
    #[case(b"<svg><g></svg>".to_vec(), FieldRule::FileImage)]
    #[case(b"<html></html>".to_vec(), FieldRule::FileSvg)]
    #[case(b"<!DOCTYPE svg><svg/>".to_vec(), FieldRule::FileSvg)]
    fn a_bad_file_is_refused(#[case] bytes: Vec<u8>, #[case] rule: FieldRule) {
        assert_eq!(accept(AssetKind::Logo, bytes), Err(rule));
    }

    #[rstest]
    #[case(8_192, 1)]
    #[case(1, 8_192)]
    fn the_longest_sides_are_accepted(#[case] width: u32, #[case] height: u32) {
        accept(AssetKind::Logo, encoded(width, height, ImageFormat::Png)).unwrap();
    }

    /// Contract 4.16: 40 megapixels are accepted, one more column is not.
    #[rstest]
    #[case(8_000, 5_000, true)]
    #[case(8_001, 5_000, false)]
    fn an_image_has_at_most_forty_megapixels(#[case] width: u32, #[case] height: u32, #[case] fits: bool) {
        let image = DynamicImage::ImageLuma8(image::GrayImage::new(width, height));
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, ImageFormat::Png).unwrap();
        let accepted = accept(AssetKind::Logo, bytes.into_inner()).map(|picture| picture.content_type);
        assert_eq!(accepted, if fits { Ok("image/png") } else { Err(FieldRule::FileImage) });
    }

    #[test]
    fn hidden_data_of_a_png_is_removed_and_its_pixels_stay() {
        let mut bytes = encoded(5, 4, ImageFormat::Png);
        bytes.extend_from_slice(b"<script>alert(1)</script>");
        let accepted = accept(AssetKind::Logo, bytes.clone()).unwrap().bytes;
        assert!(!accepted.windows(7).any(|part| part == b"<script"));
        let pixels = |bytes: &[u8]| image::load_from_memory(bytes).unwrap().to_rgba8();
        assert_eq!(pixels(&accepted), pixels(&bytes));
        assert_eq!(
            accept(AssetKind::Logo, accepted.clone()).unwrap().bytes,
            accepted,
            "a second time it stays the same"
        );
    }

    #[test]
    fn sixteen_bits_a_channel_stay() {
        let mut bytes = Vec::new();
        PngEncoder::new(&mut bytes).write_image(&[1, 2, 3, 4, 5, 6], 1, 1, ExtendedColorType::Rgb16).unwrap();
        let accepted = accept(AssetKind::Logo, bytes.clone()).unwrap().bytes;
        assert_eq!(image::load_from_memory(&accepted).unwrap(), image::load_from_memory(&bytes).unwrap());
    }

    #[test]
    fn an_svg_is_cleaned() {
        let picture = accept(AssetKind::Favicon, b"  <svg onload='x'/>".to_vec()).unwrap();
        assert_eq!((picture.content_type, picture.bytes.as_slice()), ("image/svg+xml", &b"<svg/>"[..]));
    }
}
