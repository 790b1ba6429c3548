//! Fits an image for a model: a supported format, bounded dimensions and size, verified by decoding.
//!
//! The format is detected from the first bytes, not from the declared MIME type. The declared dimensions are
//! checked before decoding, against decompression bombs. An image that fits is passed on unchanged, but
//! decoded nevertheless: model providers reject a whole conversation because of one broken image.

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

/// An image that a model accepts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FittedImage {
    pub(super) mime: &'static str,
    /// The re-encoded bytes; `None` if the original is passed on.
    pub(super) bytes: Option<Vec<u8>>,
    /// Changes to the image that the model should know about.
    pub(super) remark: Option<String>,
}

/// The reason an image cannot be shown to a model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ImageError {
    #[error("it is not PNG, JPEG, GIF or WebP")]
    UnsupportedFormat,
    #[error("it has more than {IMAGE_BYTES} bytes")]
    TooManyBytes,
    #[error("it claims to be {width} × {height} pixels")]
    TooManyPixels { width: u32, height: u32 },
    #[error("it is damaged")]
    Damaged,
    #[error("a result may show at most {RESULT_IMAGES} images")]
    TooMany,
}

/// Fits an image for a model. `declared` is the MIME type that the server gave.
pub(super) fn fit_image(bytes: &[u8], declared: &str) -> Result<FittedImage, ImageError> {
    if bytes.len() > IMAGE_BYTES {
        return Err(ImageError::TooManyBytes);
    }
    let (format, mime) = detect_format(bytes).ok_or(ImageError::UnsupportedFormat)?;
    let (width, height) = image_reader(bytes, format).into_dimensions().map_err(|_| ImageError::Damaged)?;
    if u64::from(width) * u64::from(height) > IMAGE_PIXELS {
        return Err(ImageError::TooManyPixels { width, height });
    }
    let image = decode_image(bytes, format)?;
    let is_moving = is_animated(bytes, format);
    let is_large = width.max(height) > IMAGE_EDGE;
    let mut remarks = Vec::new();
    if !declared.eq_ignore_ascii_case(mime) {
        remarks.push(format!("it is {mime}, not the declared type"));
    }
    if is_moving {
        remarks.push("it is the first of several frames".to_owned());
    }
    if !is_moving && !is_large && base64_length(bytes.len()) <= IMAGE_BASE64_BYTES {
        return Ok(FittedImage { mime, bytes: None, remark: join_remarks(&remarks) });
    }
    let image = if is_large { scale_down(image)? } else { image };
    if is_large {
        remarks.push(format!(
            "it was {width} × {height} pixels, and is now {} × {}",
            image.width(),
            image.height()
        ));
    }
    let (mime, bytes) = encode::encode_within_limit(&image, format).ok_or(ImageError::Damaged)?;
    Ok(FittedImage { mime, bytes: Some(bytes), remark: join_remarks(&remarks) })
}

/// The image format detected from the first bytes, with its MIME type.
fn detect_format(bytes: &[u8]) -> Option<(ImageFormat, &'static str)> {
    let format = image::guess_format(bytes).ok()?;
    let known = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
    known.contains(&format).then(|| (format, format.to_mime_type()))
}

fn image_reader(bytes: &[u8], format: ImageFormat) -> ImageReader<Cursor<&[u8]>> {
    ImageReader::with_format(Cursor::new(bytes), format)
}

/// Decodes the image and applies its EXIF orientation, which re-encoding would lose.
fn decode_image(bytes: &[u8], format: ImageFormat) -> Result<DynamicImage, ImageError> {
    let mut decoder = image_reader(bytes, format).into_decoder().map_err(|_| ImageError::Damaged)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(|_| ImageError::Damaged)?;
    image.apply_orientation(orientation);
    Ok(image)
}

/// Whether the image is animated. At most two frames are decoded to find out.
fn is_animated(bytes: &[u8], format: ImageFormat) -> bool {
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

/// Scales the image down until its longer edge is [`IMAGE_EDGE`] pixels, at eight bits per channel.
///
/// Works on RGBA only: the library is compiled for each kind of pixel, and all kinds together are a tenth of the
/// program.
fn scale_down(image: DynamicImage) -> Result<DynamicImage, ImageError> {
    let longest = u64::from(image.width().max(image.height()));
    let scaled = |edge: u32| {
        let edge = u64::from(edge) * u64::from(IMAGE_EDGE) / longest;
        u32::try_from(edge).unwrap_or(IMAGE_EDGE).max(1)
    };
    let mut small = DynamicImage::new_rgba8(scaled(image.width()), scaled(image.height()));
    let color = image.color();
    let by_area = ResizeOptions::new()
        .resize_alg(ResizeAlg::SuperSampling(fast_image_resize::FilterType::Bilinear, 2))
        .use_alpha(color.has_alpha());
    let image = DynamicImage::ImageRgba8(image.into_rgba8());
    Resizer::new().resize(&image, &mut small, &by_area).map_err(|_| ImageError::Damaged)?;
    // The channels that the image had: others would make its PNG larger.
    Ok(match (color.has_color(), color.has_alpha()) {
        (true, true) => small,
        (true, false) => small.into_rgb8().into(),
        (false, true) => small.into_luma_alpha8().into(),
        (false, false) => small.into_luma8().into(),
    })
}

/// The length of this many bytes in base64.
fn base64_length(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

fn join_remarks(remarks: &[String]) -> Option<String> {
    (!remarks.is_empty()).then(|| remarks.join("; "))
}
