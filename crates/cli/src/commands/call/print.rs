//! Prints a result: text as data on stdout, and a remark on stderr for every other block.

use mcparley::results::ResourceBody;
use mcparley::{CallOutcome, ContentBlock};
use serde_json::Value;

use super::save::SavedFile;
use crate::out::TerminalOutput;

/// Prints the content blocks. Text is unchanged through a pipe, and without control sequences on a terminal.
pub(super) fn print_outcome(outcome: &CallOutcome, saved: &[SavedFile], out: &mut TerminalOutput) {
    let sent = SentBlocks::from_outcome(outcome);
    for (index, block) in outcome.content.iter().enumerate() {
        match block {
            ContentBlock::Text(text) => out.print_untrusted(sent.block_text(index).unwrap_or(text)),
            ContentBlock::Resource { uri, body: ResourceBody::Text(text), .. } => {
                out.print_remark(&format!("resource {uri}"));
                out.print_untrusted(sent.resource_text(index).unwrap_or(text));
            }
            ContentBlock::Link { uri, name, title, .. } => {
                out.print_untrusted(&format!("{} <{uri}>", title.as_ref().unwrap_or(name)));
            }
            ContentBlock::Note(note) => out.warn(note),
            ContentBlock::Image { mime, data } => {
                print_binary("image", mime, data, SavedFile::find_block(saved, index), out)
            }
            ContentBlock::Audio { mime, data } => {
                print_binary("audio", mime, data, SavedFile::find_block(saved, index), out)
            }
            ContentBlock::Resource { uri, mime, body: ResourceBody::Blob(data) } => {
                let mime = mime.as_deref().unwrap_or("application/octet-stream");
                print_binary(
                    &format!("resource {uri}"),
                    mime,
                    data,
                    SavedFile::find_block(saved, index),
                    out,
                );
            }
        }
    }
    if let Some(structured) = outcome.unrepeated_structured() {
        out.print_untrusted(structured.as_str());
    } else if outcome.content.is_empty() {
        out.print_remark("no content");
    }
}

fn print_binary(what: &str, mime: &str, base64: &str, saved: Option<&SavedFile>, out: &mut TerminalOutput) {
    let bytes = base64.trim_end_matches('=').len() / 4 * 3 + base64.trim_end_matches('=').len() % 4 * 3 / 4;
    match saved {
        Some(saved) => out.print_remark(&format!("{what} ({mime}, {bytes} bytes): {}", saved.path_text())),
        None => {
            let left = "not shown; use `--save DIR` or `--output FILE` to write it";
            out.print_remark(&format!("{what} ({mime}, {bytes} bytes): {left}"));
        }
    }
}

/// The content blocks as the server sent them; the library sanitizes its copy for a model.
struct SentBlocks(Vec<Value>);

impl SentBlocks {
    fn from_outcome(outcome: &CallOutcome) -> Self {
        let blocks = outcome.raw.member_elements("content").unwrap_or_default();
        Self(blocks.iter().map(|block| block.decode().unwrap_or_default()).collect())
    }

    fn block_text(&self, index: usize) -> Option<&str> {
        self.0.get(index)?.get("text")?.as_str()
    }

    fn resource_text(&self, index: usize) -> Option<&str> {
        self.0.get(index)?.get("resource")?.get("text")?.as_str()
    }
}
