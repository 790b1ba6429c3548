//! Writes the images, sounds and files of a result to where the person wants them.
//!
//! A name on disk is never the server's: it is made from the tool's and a number, and with `--save` no file
//! is written over. `--output` is like a shell's `>`, so it does what that does.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use mcparley::model::name::normalise_tool;
use mcparley::{Block, Body, Entry, Outcome, decode_base64};

use crate::args::CallOptions;
use crate::error::CommandError;
use crate::out::Out;

/// How many names are tried before a folder counts as full.
const TRIES: usize = 10_000;

/// One part of a result that was written.
pub(super) struct Saved {
    /// Which block it was.
    index: usize,
    path: PathBuf,
}

impl Saved {
    pub(super) fn of(all: &[Self], index: usize) -> Option<&Self> {
        all.iter().find(|saved| saved.index == index)
    }

    pub(super) fn place(&self) -> String {
        self.path.display().to_string()
    }
}

/// Writes what is to be written.
pub(super) fn save(
    outcome: &Outcome,
    entry: &Entry,
    options: &CallOptions,
    out: &mut Out,
) -> Result<Vec<Saved>, CommandError> {
    let binaries: Vec<(usize, &str, &str)> =
        outcome.content.iter().enumerate().filter_map(|(index, block)| binary(index, block)).collect();
    if let Some(path) = &options.output {
        return only(&binaries, path, out);
    }
    let Some(folder) = &options.save else { return Ok(Vec::new()) };
    let stem = normalise_tool(&entry.tool.name);
    let mut saved = Vec::new();
    for (index, mime, data) in binaries {
        let bytes = bytes(data)?;
        saved.push(Saved { index, path: write_new(folder, &stem, extension(mime), &bytes)? });
    }
    Ok(saved)
}

/// `--output`: there must be exactly one.
fn only(binaries: &[(usize, &str, &str)], path: &Path, out: &mut Out) -> Result<Vec<Saved>, CommandError> {
    let [(index, _, data)] = binaries else {
        let message = format!("the result has {} images, sounds and files, not one", binaries.len());
        let hint = "`--save DIR` writes all there are".to_owned();
        return Err(CommandError::File { message, hint: Some(hint) });
    };
    let bytes = bytes(data)?;
    if path.as_os_str() == "-" {
        out.bytes(&bytes);
        return Ok(vec![Saved { index: *index, path: PathBuf::from("standard output") }]);
    }
    write_over(path, &bytes)?;
    Ok(vec![Saved { index: *index, path: path.to_owned() }])
}

/// Writes a file as a shell's `>` does.
pub(in crate::commands) fn write_over(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    let opened = OpenOptions::new().write(true).create(true).truncate(true).open(path);
    opened.and_then(|mut file| file.write_all(bytes)).map_err(|error| unwritten(path, &error))
}

fn write_new(folder: &Path, stem: &str, extension: &str, bytes: &[u8]) -> Result<PathBuf, CommandError> {
    for number in 1..=TRIES {
        let path = folder.join(format!("{stem}-{number}.{extension}"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(bytes).map_err(|error| unwritten(&path, &error))?;
                return Ok(path);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unwritten(&path, &error)),
        }
    }
    Err(unwritten(folder, &ErrorKind::AlreadyExists.into()))
}

fn binary(index: usize, block: &Block) -> Option<(usize, &str, &str)> {
    match block {
        Block::Image { mime, data } | Block::Audio { mime, data } => Some((index, mime, data)),
        Block::Resource { mime, body: Body::Blob(data), .. } => {
            Some((index, mime.as_deref().unwrap_or_default(), data))
        }
        _ => None,
    }
}

fn bytes(base64: &str) -> Result<Vec<u8>, CommandError> {
    let damaged =
        || CommandError::File { message: "a part of the result is not base64".to_owned(), hint: None };
    decode_base64(base64).ok_or_else(damaged)
}

fn unwritten(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::File { message: format!("cannot write `{}`: {error}", path.display()), hint: None }
}

fn extension(mime: &str) -> &'static str {
    let kind = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        kind if kind.starts_with("text/") => "txt",
        _ => "bin",
    }
}
