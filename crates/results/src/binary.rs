//! Binary parts of a result: images are fitted for a model, audio and other binary data is stored in files.

use mcparley_model::limits::RESULT_IMAGES;
use mcparley_model::text::{display_line, truncate_text};

use crate::base64_text;
use crate::outcome::{CallOutcome, ContentBlock, ResourceBody};
use crate::picture::{self, FittedImage, ImageError};
use crate::stored::{StoredResult, StoredResults};

/// The number of characters of a MIME type that a note repeats.
const MIME_CHARS: usize = 100;

/// Whether the outcome has binary parts: images, audio or resource blobs.
pub(super) fn has_binary_parts(outcome: &CallOutcome) -> bool {
    outcome.content.iter().any(|block| match block {
        ContentBlock::Image { .. }
        | ContentBlock::Audio { .. }
        | ContentBlock::Resource { body: ResourceBody::Blob(_), .. } => true,
        ContentBlock::Text(_)
        | ContentBlock::Note(_)
        | ContentBlock::Link { .. }
        | ContentBlock::Resource { .. } => false,
    })
}

impl StoredResults {
    /// Replaces binary parts: images by versions a model accepts, all other binary data by a note on where it
    /// is stored.
    pub(super) fn extract_binary_parts(&self, mut outcome: CallOutcome, origin: &str) -> CallOutcome {
        let blocks = std::mem::take(&mut outcome.content);
        for block in blocks {
            match block {
                ContentBlock::Image { mime, data } => {
                    let image = BinaryPart { name: "an image".to_owned(), mime, data };
                    self.add_image(image, &mut outcome, origin);
                }
                ContentBlock::Audio { mime, data } => {
                    self.store_part(
                        BinaryPart { name: "a sound".to_owned(), mime, data },
                        "",
                        &mut outcome,
                        origin,
                    );
                }
                ContentBlock::Resource { uri, mime, body: ResourceBody::Blob(data) } => {
                    let mime = mime.unwrap_or_else(|| "application/octet-stream".to_owned());
                    let part = BinaryPart { name: format!("the resource {uri}"), mime, data };
                    if part.is_image() {
                        self.add_image(part, &mut outcome, origin);
                    } else {
                        self.store_part(part, "", &mut outcome, origin);
                    }
                }
                text @ (ContentBlock::Text(_)
                | ContentBlock::Note(_)
                | ContentBlock::Link { .. }
                | ContentBlock::Resource { .. }) => {
                    outcome.content.push(text);
                }
            }
        }
        outcome
    }

    /// Adds an image, or stores it and adds a note if it cannot be shown.
    fn add_image(&self, part: BinaryPart, outcome: &mut CallOutcome, origin: &str) {
        let shown =
            outcome.content.iter().filter(|block| matches!(block, ContentBlock::Image { .. })).count();
        let fitted = match part.decode_data() {
            Some(_) if shown >= RESULT_IMAGES => Err(ImageError::TooMany),
            Some(bytes) => picture::fit_image(&bytes, part.media_type()),
            None => Err(ImageError::Damaged),
        };
        let FittedImage { mime, bytes, remark } = match fitted {
            Ok(picture) => picture,
            Err(unfit) => {
                return self.store_part(part, &format!("; it cannot be shown: {unfit}"), outcome, origin);
            }
        };
        outcome.is_fitted |= bytes.is_some() || part.media_type() != mime;
        let name = part.name.clone();
        let data = bytes.map_or(part.data, |bytes| base64_text::encode(&bytes));
        outcome.content.push(ContentBlock::Image { mime: mime.to_owned(), data });
        if let Some(remark) = remark {
            outcome.content.push(ContentBlock::Note(format!("about {name}: {remark}")));
        }
    }

    /// Stores a binary part and adds a note in its place.
    fn store_part(&self, part: BinaryPart, because: &str, outcome: &mut CallOutcome, origin: &str) {
        let about = |bytes: usize| {
            let mime = truncate_text(&part.mime, MIME_CHARS);
            format!("{} ({mime}, {bytes} bytes)", part.name)
        };
        outcome.is_fitted = true;
        let Some(bytes) = part.decode_data() else {
            return outcome
                .content
                .push(ContentBlock::Note(format!("{} is not base64", about(part.data.len()))));
        };
        let about = about(bytes.len());
        let note = match self.store_binary(&bytes, file_extension(part.media_type()), origin) {
            Ok((handle, path)) => {
                let place = path
                    .as_ref()
                    .map(|path| format!(" is in the file {}", display_line(&path.to_string_lossy())));
                let (mime, bytes) = (part.mime, bytes.len() as u64);
                outcome.stored.push(StoredResult { handle, path, mime, bytes });
                format!("{about}{}", place.as_deref().unwrap_or(" is stored, but not as a file you can open"))
            }
            Err(error) => format!("{about} was left out: it could not be stored: {error}"),
        };
        outcome.content.push(ContentBlock::Note(note + because));
    }
}

/// A binary part of a result.
struct BinaryPart {
    /// The noun phrase for this part in a note, such as "an image".
    name: String,
    /// The MIME type as the server declares it.
    mime: String,
    /// The bytes in base64.
    data: String,
}

impl BinaryPart {
    /// The MIME type without parameters.
    fn media_type(&self) -> &str {
        self.mime.split(';').next().unwrap_or_default().trim()
    }

    fn is_image(&self) -> bool {
        self.media_type().get(..6).is_some_and(|start| start.eq_ignore_ascii_case("image/"))
    }

    fn decode_data(&self) -> Option<Vec<u8>> {
        base64_text::decode(&self.data)
    }
}

/// The file extension for a MIME type. It comes from this table, never from the server's text.
fn file_extension(mime: &str) -> &'static str {
    match mime.to_ascii_lowercase().as_str() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/ogg" => "ogg",
        "audio/flac" => "flac",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        "text/csv" => "csv",
        kind if kind.starts_with("text/") => "txt",
        _ => "bin",
    }
}
