//! What becomes of the parts of a result that are no text: images are made fit for a model, all else goes into files (R3).

use mcparley_model::limits::RESULT_IMAGES;
use mcparley_model::text::{cut, display};

use super::picture::{self, Picture, Unfit};
use super::{Results, Stored};
use crate::base64_text;
use crate::call::{Block, Body, Outcome};

/// How many characters of a type are told.
const MIME_CHARS: usize = 100;

/// Whether the outcome has parts that are no text.
pub(super) fn is_in(outcome: &Outcome) -> bool {
    outcome.content.iter().any(|block| match block {
        Block::Image { .. } | Block::Audio { .. } | Block::Resource { body: Body::Blob(_), .. } => true,
        Block::Text(_) | Block::Note(_) | Block::Link { .. } | Block::Resource { .. } => false,
    })
}

impl Results {
    /// The outcome with images that a model can be given, and everything else that is no text stored.
    pub(super) fn put_away(&self, mut outcome: Outcome, origin: &str) -> Outcome {
        let blocks = std::mem::take(&mut outcome.content);
        for block in blocks {
            match block {
                Block::Image { mime, data } => {
                    let image = Part { name: "an image".to_owned(), mime, data };
                    self.show(image, &mut outcome, origin);
                }
                Block::Audio { mime, data } => {
                    self.store(Part { name: "a sound".to_owned(), mime, data }, "", &mut outcome, origin);
                }
                Block::Resource { uri, mime, body: Body::Blob(data) } => {
                    let mime = mime.unwrap_or_else(|| "application/octet-stream".to_owned());
                    let part = Part { name: format!("the resource {uri}"), mime, data };
                    if part.is_image() {
                        self.show(part, &mut outcome, origin);
                    } else {
                        self.store(part, "", &mut outcome, origin);
                    }
                }
                text @ (Block::Text(_) | Block::Note(_) | Block::Link { .. } | Block::Resource { .. }) => {
                    outcome.content.push(text);
                }
            }
        }
        outcome
    }

    /// Adds an image, or what is said in its place.
    fn show(&self, part: Part, outcome: &mut Outcome, origin: &str) {
        let shown = outcome.content.iter().filter(|block| matches!(block, Block::Image { .. })).count();
        let fitted = match part.bytes() {
            Some(_) if shown >= RESULT_IMAGES => Err(Unfit::TooMany),
            Some(bytes) => picture::fit(&bytes, part.kind()),
            None => Err(Unfit::Damaged),
        };
        let Picture { mime, bytes, remark } = match fitted {
            Ok(picture) => picture,
            Err(unfit) => {
                return self.store(part, &format!("; it cannot be shown: {unfit}"), outcome, origin);
            }
        };
        outcome.is_fitted |= bytes.is_some() || part.kind() != mime;
        let name = part.name.clone();
        let data = bytes.map_or(part.data, |bytes| base64_text::encode(&bytes));
        outcome.content.push(Block::Image { mime: mime.to_owned(), data });
        if let Some(remark) = remark {
            outcome.content.push(Block::Note(format!("about {name}: {remark}")));
        }
    }

    /// Stores a part, and adds what is said in its place.
    fn store(&self, part: Part, because: &str, outcome: &mut Outcome, origin: &str) {
        let about = |bytes: usize| {
            let mime = cut(&part.mime, MIME_CHARS);
            format!("{} ({mime}, {bytes} bytes)", part.name)
        };
        outcome.is_fitted = true;
        let Some(bytes) = part.bytes() else {
            return outcome.content.push(Block::Note(format!("{} is not base64", about(part.data.len()))));
        };
        let about = about(bytes.len());
        let note = match self.keep_binary(&bytes, extension(part.kind()), origin) {
            Ok((handle, path)) => {
                let place =
                    path.as_ref().map(|path| format!(" is in the file {}", display(&path.to_string_lossy())));
                let (mime, bytes) = (part.mime, bytes.len() as u64);
                outcome.stored.push(Stored { handle, path, mime, bytes });
                format!(
                    "{about}{}",
                    place.as_deref().unwrap_or(" is kept where only the program can reach it")
                )
            }
            Err(error) => format!("{about} was left out: it could not be stored: {error}"),
        };
        outcome.content.push(Block::Note(note + because));
    }
}

/// A part that is no text.
struct Part {
    /// What it is called in a sentence.
    name: String,
    /// Its type, as its server says.
    mime: String,
    /// Its bytes in base64.
    data: String,
}

impl Part {
    /// Its type without parameters.
    fn kind(&self) -> &str {
        self.mime.split(';').next().unwrap_or_default().trim()
    }

    fn is_image(&self) -> bool {
        self.kind().get(..6).is_some_and(|start| start.eq_ignore_ascii_case("image/"))
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        base64_text::decode(&self.data)
    }
}

/// How the name of a file of this type ends. Never a server's word.
fn extension(mime: &str) -> &'static str {
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
