//! Packs an image: without loss where that is small enough, else with ever more loss.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use mcparley_model::limits::IMAGE_BASE64_BYTES;

use super::base64_length;

/// How good a photograph is packed, best first.
const QUALITIES: [u8; 4] = [85, 70, 50, 30];

/// The image in a form that is short enough for a model; nothing if there is none.
pub(super) fn within(image: &DynamicImage, from: ImageFormat) -> Option<(&'static str, Vec<u8>)> {
    let fits = |bytes: &Vec<u8>| base64_length(bytes.len()) <= IMAGE_BASE64_BYTES;
    // What came with loss gains nothing by being packed without.
    if matches!(from, ImageFormat::Png | ImageFormat::Gif)
        && let Some(bytes) = png(image).filter(fits)
    {
        return Some(("image/png", bytes));
    }
    let flat = on_white(image);
    let packed = QUALITIES.into_iter().filter_map(|quality| jpeg(&flat, quality));
    packed.into_iter().find(fits).map(|bytes| ("image/jpeg", bytes))
}

fn png(image: &DynamicImage) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    image.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).ok()?;
    Some(bytes)
}

fn jpeg(image: &RgbImage, quality: u8) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, quality).encode_image(image).ok()?;
    Some(bytes)
}

/// The image as if it lay on paper: a JPEG has nothing to see through.
fn on_white(image: &DynamicImage) -> RgbImage {
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
