//! Encodes an image within the size limit: lossless PNG if that is small enough, else JPEG of decreasing
//! quality.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use mcparley_model::limits::IMAGE_BASE64_BYTES;

use super::base64_length;

/// The JPEG qualities to try, best first.
const QUALITIES: [u8; 4] = [85, 70, 50, 30];

/// Encodes the image within the size limit; `None` if no quality is small enough.
pub(super) fn encode_within_limit(
    image: &DynamicImage,
    from: ImageFormat,
) -> Option<(&'static str, Vec<u8>)> {
    let fits = |bytes: &Vec<u8>| base64_length(bytes.len()) <= IMAGE_BASE64_BYTES;
    // An image from a lossy format gains nothing from lossless encoding.
    if matches!(from, ImageFormat::Png | ImageFormat::Gif)
        && let Some(bytes) = encode_png(image).filter(fits)
    {
        return Some(("image/png", bytes));
    }
    let flat = flatten_on_white(image);
    let packed = QUALITIES.into_iter().filter_map(|quality| encode_jpeg(&flat, quality));
    packed.into_iter().find(fits).map(|bytes| ("image/jpeg", bytes))
}

fn encode_png(image: &DynamicImage) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    image.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).ok()?;
    Some(bytes)
}

fn encode_jpeg(image: &RgbImage, quality: u8) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, quality).encode_image(image).ok()?;
    Some(bytes)
}

/// Composes the image on a white background, because JPEG has no transparency.
fn flatten_on_white(image: &DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.to_rgb8();
    }
    let see_through = image.to_rgba8();
    RgbImage::from_fn(image.width(), image.height(), |x, y| {
        let [red, green, blue, alpha] = see_through.get_pixel(x, y).0;
        let alpha = u16::from(alpha);
        let over = |part: u8| ((u16::from(part) * alpha + 255 * (255 - alpha)) / 255) as u8;
        Rgb([over(red), over(green), over(blue)])
    })
}
