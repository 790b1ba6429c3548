//! Makes an image fit for a model: of a kind it reads, not larger than it sees, and surely an image (R3, B102, H40).
//!
//! Only the first bytes are believed about what it is, and only after their claims about its size have been found bearable
//! is it unpacked. An image that fits is passed on as it came; a provider would refuse a whole conversation for one that is
//! broken, so it is unpacked even then.

mod encode;

#[cfg(test)]
mod tests;

use std::io::Cursor;

use fast_image_resize::{ResizeAlg, ResizeOptions, Resizer};
use image::codecs::gif::GifDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{AnimationDecoder as _, DynamicImage, ImageDecoder as _, ImageFormat, ImageReader};
use mcparley_model::limits::{IMAGE_BASE64_BYTES, IMAGE_BYTES, IMAGE_EDGE, IMAGE_PIXELS, RESULT_IMAGES};

/// An image that a model can be given.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Picture {
    pub(super) mime: &'static str,
    /// The new bytes; nothing if it can be given as it came.
    pub(super) bytes: Option<Vec<u8>>,
    /// What was done to it that a model should know.
    pub(super) remark: Option<String>,
}

/// Why a model cannot be given an image.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unfit {
    #[error("it is none of PNG, JPEG, GIF and WebP")]
    Foreign,
    #[error("it has more than {IMAGE_BYTES} bytes")]
    Heavy,
    #[error("it claims to be {width} × {height} pixels large")]
    Vast { width: u32, height: u32 },
    #[error("it is damaged")]
    Damaged,
    #[error("one result may show {RESULT_IMAGES} images")]
    TooMany,
}

/// The image in the form in which a model can be given it. `declared` is what its server says it is.
pub(super) fn fit(bytes: &[u8], declared: &str) -> Result<Picture, Unfit> {
    if bytes.len() > IMAGE_BYTES {
        return Err(Unfit::Heavy);
    }
    let (format, mime) = format_of(bytes).ok_or(Unfit::Foreign)?;
    let (width, height) = reader(bytes, format).into_dimensions().map_err(|_| Unfit::Damaged)?;
    if u64::from(width) * u64::from(height) > IMAGE_PIXELS {
        return Err(Unfit::Vast { width, height });
    }
    let image = unpacked(bytes, format)?;
    let is_moving = is_moving(bytes, format);
    let is_large = width.max(height) > IMAGE_EDGE;
    let mut remarks = Vec::new();
    if !declared.eq_ignore_ascii_case(mime) {
        remarks.push(format!("it is {mime}, not what it is said to be"));
    }
    if is_moving {
        remarks.push("it is the first of several frames".to_owned());
    }
    if !is_moving && !is_large && base64_length(bytes.len()) <= IMAGE_BASE64_BYTES {
        return Ok(Picture { mime, bytes: None, remark: joined(&remarks) });
    }
    let image = if is_large { smaller(&image)? } else { image };
    if is_large {
        remarks.push(format!(
            "it was {width} × {height} pixels large, and is now {} × {}",
            image.width(),
            image.height()
        ));
    }
    let (mime, bytes) = encode::within(&image, format).ok_or(Unfit::Damaged)?;
    Ok(Picture { mime, bytes: Some(bytes), remark: joined(&remarks) })
}

/// What the first bytes say.
fn format_of(bytes: &[u8]) -> Option<(ImageFormat, &'static str)> {
    let format = image::guess_format(bytes).ok()?;
    let known = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
    known.contains(&format).then(|| (format, format.to_mime_type()))
}

fn reader(bytes: &[u8], format: ImageFormat) -> ImageReader<Cursor<&[u8]>> {
    ImageReader::with_format(Cursor::new(bytes), format)
}

/// The image, the right way up: what cameras note about it is lost when it is packed again.
fn unpacked(bytes: &[u8], format: ImageFormat) -> Result<DynamicImage, Unfit> {
    let mut decoder = reader(bytes, format).into_decoder().map_err(|_| Unfit::Damaged)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(|_| Unfit::Damaged)?;
    image.apply_orientation(orientation);
    Ok(image)
}

/// Whether there is more than one frame. No more than two are looked at.
fn is_moving(bytes: &[u8], format: ImageFormat) -> bool {
    match format {
        ImageFormat::Gif => {
            let frames =
                GifDecoder::new(Cursor::new(bytes)).map(|decoder| decoder.into_frames().take(2).count());
            frames.is_ok_and(|frames| frames > 1)
        }
        ImageFormat::WebP => {
            WebPDecoder::new(Cursor::new(bytes)).is_ok_and(|decoder| decoder.has_animation())
        }
        _ => false,
    }
}

/// The image so small that its longer edge is as long as it may be.
fn smaller(image: &DynamicImage) -> Result<DynamicImage, Unfit> {
    let longest = u64::from(image.width().max(image.height()));
    let scaled = |edge: u32| {
        let edge = u64::from(edge) * u64::from(IMAGE_EDGE) / longest;
        u32::try_from(edge).unwrap_or(IMAGE_EDGE).max(1)
    };
    let mut small = DynamicImage::new(scaled(image.width()), scaled(image.height()), image.color());
    let by_area =
        ResizeOptions::new().resize_alg(ResizeAlg::SuperSampling(fast_image_resize::FilterType::Bilinear, 2));
    Resizer::new().resize(image, &mut small, &by_area).map_err(|_| Unfit::Damaged)?;
    Ok(small)
}

/// How long bytes become in base64.
fn base64_length(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

fn joined(remarks: &[String]) -> Option<String> {
    (!remarks.is_empty()).then(|| remarks.join("; "))
}
