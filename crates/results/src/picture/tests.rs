//! Large images are scaled down; data that only claims to be an image is rejected.

use image::codecs::gif::GifEncoder;
use image::{Frame, Rgba, RgbaImage};

use super::*;

fn noise(width: u32, height: u32) -> DynamicImage {
    let mut state = 1_u32;
    DynamicImage::ImageRgba8(RgbaImage::from_fn(width, height, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [a, b, c, _] = state.to_be_bytes();
        Rgba([a, b, c, 255])
    }))
}

fn plain(width: u32, height: u32) -> DynamicImage {
    DynamicImage::ImageRgba8(RgbaImage::from_pixel(width, height, Rgba([200, 10, 10, 255])))
}

fn packed(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    let image =
        if format == ImageFormat::Jpeg { DynamicImage::ImageRgb8(image.to_rgb8()) } else { image.clone() };
    image.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

fn size(bytes: &[u8]) -> (u32, u32) {
    ImageReader::new(Cursor::new(bytes)).with_guessed_format().unwrap().into_dimensions().unwrap()
}

// R3
#[test]
fn image_within_the_limits_is_unchanged() {
    for (format, mime) in [
        (ImageFormat::Png, "image/png"),
        (ImageFormat::Jpeg, "image/jpeg"),
        (ImageFormat::WebP, "image/webp"),
        (ImageFormat::Gif, "image/gif"),
    ] {
        let picture = fit_image(&packed(&plain(40, 30), format), mime).unwrap();
        assert_eq!(picture, FittedImage { mime, bytes: None, remark: None });
    }
}

// R3
#[test]
fn large_image_is_scaled_down_with_its_aspect_ratio() {
    for (width, height, small) in
        [(4_000, 1_000, (1_568, 392)), (300, 3_136, (150, 1_568)), (9_000, 1, (1_568, 1))]
    {
        let picture = fit_image(&packed(&plain(width, height), ImageFormat::Png), "image/png").unwrap();
        assert_eq!((picture.mime, size(&picture.bytes.unwrap())), ("image/png", small));
        let told = format!("it was {width} × {height} pixels, and is now {} × {}", small.0, small.1);
        assert_eq!(picture.remark, Some(told));
    }
    let photograph = fit_image(&packed(&noise(2_000, 500), ImageFormat::Jpeg), "image/jpeg").unwrap();
    assert_eq!((photograph.mime, size(&photograph.bytes.unwrap())), ("image/jpeg", (1_568, 392)));
}

// R3
#[test]
fn image_too_large_as_png_becomes_jpeg() {
    let heavy = packed(&noise(1_500, 1_500), ImageFormat::Png);
    assert!(base64_length(heavy.len()) > IMAGE_BASE64_BYTES);
    let picture = fit_image(&heavy, "image/png").unwrap();
    let bytes = picture.bytes.unwrap();
    assert!(base64_length(bytes.len()) <= IMAGE_BASE64_BYTES);
    assert_eq!((picture.mime, size(&bytes)), ("image/jpeg", (1_500, 1_500)));
}

// B102
#[test]
fn wrong_mime_type_is_corrected() {
    let picture = fit_image(&packed(&plain(4, 4), ImageFormat::Png), "image/jpeg").unwrap();
    assert_eq!((picture.mime, picture.bytes), ("image/png", None));
    assert_eq!(picture.remark.unwrap(), "it is image/png, not the declared type");
}

/// A PNG of one pixel that declares another size.
fn claiming(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = packed(&plain(1, 1), ImageFormat::Png);
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let sum = checksum(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// The CRC of a PNG chunk.
fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    !sum
}

// B102 H40
#[test]
fn too_many_declared_pixels_are_rejected_before_decoding() {
    assert_eq!(
        fit_image(&claiming(60_000, 60_000), "image/png"),
        Err(ImageError::TooManyPixels { width: 60_000, height: 60_000 })
    );
    // Within the limit, but false.
    assert_eq!(fit_image(&claiming(5_000, 5_000), "image/png"), Err(ImageError::Damaged));
    assert_eq!(fit_image(&vec![0; IMAGE_BYTES + 1], "image/png"), Err(ImageError::TooManyBytes));
}

// B102
#[test]
fn data_that_is_not_an_image_is_rejected() {
    let script = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
    assert_eq!(fit_image(script, "image/svg+xml"), Err(ImageError::UnsupportedFormat));
    assert_eq!(fit_image(script, "image/png"), Err(ImageError::UnsupportedFormat));
    assert_eq!(fit_image(b"", "image/png"), Err(ImageError::UnsupportedFormat));
    assert_eq!(fit_image(b"BM plain bitmap of old", "image/bmp"), Err(ImageError::UnsupportedFormat));
    let whole = packed(&noise(200, 200), ImageFormat::Png);
    assert_eq!(fit_image(&whole[..whole.len() / 2], "image/png"), Err(ImageError::Damaged));
    assert_eq!(fit_image(&whole[..20], "image/png"), Err(ImageError::Damaged));
}

// B102
#[test]
fn animation_is_reduced_to_its_first_frame() {
    let mut bytes = Vec::new();
    let mut encoder = GifEncoder::new(&mut bytes);
    let frame = || Frame::new(RgbaImage::from_pixel(2, 2, Rgba([1, 2, 3, 255])));
    encoder.encode_frames((0..10_000).map(|_| frame())).unwrap();
    drop(encoder);
    let picture = fit_image(&bytes, "image/gif").unwrap();
    assert_eq!((picture.mime, size(&picture.bytes.unwrap())), ("image/png", (2, 2)));
    assert_eq!(picture.remark.unwrap(), "it is the first of several frames");
}
