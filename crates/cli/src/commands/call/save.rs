//! Writes the images, audio clips and files of a result to disk.
//!
//! File names never come from the server: they consist of the tool name and a number, and `--save` overwrites
//! no existing file. `--output` overwrites, like `>` in a shell.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use mcparley::catalog::CatalogEntry;
use mcparley::model::name::normalize_tool;
use mcparley::results::ResourceBody;
use mcparley::results::base64_text::decode as decode_base64;
use mcparley::{CallOutcome, ContentBlock};

use crate::args::CallCommandOptions;
use crate::error::FileError;
use crate::out::TerminalOutput;

/// The number of file names tried before giving up.
const TRIES: usize = 10_000;

/// A block of a result that was written to a file.
pub(in crate::commands) struct SavedFile {
    /// The index of the block.
    index: usize,
    path: PathBuf,
}

impl SavedFile {
    pub(super) fn find_block(all: &[Self], index: usize) -> Option<&Self> {
        all.iter().find(|saved| saved.index == index)
    }

    pub(super) fn path_text(&self) -> String {
        self.path.display().to_string()
    }
}

/// Writes the binary blocks as `--output` or `--save` requests.
pub(super) fn save_files(
    outcome: &CallOutcome,
    entry: &CatalogEntry,
    options: &CallCommandOptions,
    out: &mut TerminalOutput,
) -> Result<Vec<SavedFile>, FileError> {
    let binaries: Vec<(usize, &str, &str)> =
        outcome.content.iter().enumerate().filter_map(|(index, block)| binary_block(index, block)).collect();
    if let Some(path) = &options.output {
        return save_single_file(&binaries, path, out);
    }
    let Some(folder) = &options.save else { return Ok(Vec::new()) };
    let stem = normalize_tool(&entry.tool.name);
    let mut saved = Vec::new();
    for (index, mime, data) in binaries {
        let bytes = decode_bytes(data)?;
        saved.push(SavedFile { index, path: write_new_file(folder, &stem, file_extension(mime), &bytes)? });
    }
    Ok(saved)
}

/// Writes the only binary block to the file of `--output`; several or none are an error.
fn save_single_file(
    binaries: &[(usize, &str, &str)],
    path: &Path,
    out: &mut TerminalOutput,
) -> Result<Vec<SavedFile>, FileError> {
    let [(index, _, data)] = binaries else {
        return Err(FileError::NotOneFile { found: binaries.len() });
    };
    let bytes = decode_bytes(data)?;
    if path.as_os_str() == "-" {
        out.print_bytes(&bytes);
        return Ok(vec![SavedFile { index: *index, path: PathBuf::from("standard output") }]);
    }
    overwrite_file(path, &bytes)?;
    Ok(vec![SavedFile { index: *index, path: path.to_owned() }])
}

/// Creates or overwrites a file, like `>` in a shell.
pub(in crate::commands) fn overwrite_file(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let opened = OpenOptions::new().write(true).create(true).truncate(true).open(path);
    opened.and_then(|mut file| file.write_all(bytes)).map_err(|error| write_error(path, error))
}

fn write_new_file(folder: &Path, stem: &str, extension: &str, bytes: &[u8]) -> Result<PathBuf, FileError> {
    for number in 1..=TRIES {
        let path = folder.join(format!("{stem}-{number}.{extension}"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(bytes).map_err(|error| write_error(&path, error))?;
                return Ok(path);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(write_error(&path, error)),
        }
    }
    Err(write_error(folder, ErrorKind::AlreadyExists.into()))
}

fn binary_block(index: usize, block: &ContentBlock) -> Option<(usize, &str, &str)> {
    match block {
        ContentBlock::Image { mime, data } | ContentBlock::Audio { mime, data } => Some((index, mime, data)),
        ContentBlock::Resource { mime, body: ResourceBody::Blob(data), .. } => {
            Some((index, mime.as_deref().unwrap_or_default(), data))
        }
        _ => None,
    }
}

fn decode_bytes(base64: &str) -> Result<Vec<u8>, FileError> {
    decode_base64(base64).ok_or(FileError::ResultNotBase64)
}

fn write_error(path: &Path, error: std::io::Error) -> FileError {
    FileError::Unwritten { path: path.to_owned(), error }
}

fn file_extension(mime: &str) -> &'static str {
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
