//! Prints a result: its text is data, everything else is a line of talk about it.

use mcparley::{Block, Body, Outcome};
use serde_json::Value;

use super::save::Saved;
use crate::out::Out;

/// Prints what there is to read. Through a pipe text goes as the server sent it; on a terminal nothing in it
/// can drive the terminal.
pub(super) fn print(outcome: &Outcome, saved: &[Saved], out: &mut Out) {
    let sent = Sent::of(outcome);
    for (index, block) in outcome.content.iter().enumerate() {
        match block {
            Block::Text(text) => out.foreign(sent.text(index).unwrap_or(text)),
            Block::Resource { uri, body: Body::Text(text), .. } => {
                out.remark(&format!("resource {uri}"));
                out.foreign(sent.resource(index).unwrap_or(text));
            }
            Block::Link { uri, name, title, .. } => {
                out.foreign(&format!("{} <{uri}>", title.as_ref().unwrap_or(name)));
            }
            Block::Note(note) => out.warn(note),
            Block::Image { mime, data } => binary("image", mime, data, Saved::of(saved, index), out),
            Block::Audio { mime, data } => binary("audio", mime, data, Saved::of(saved, index), out),
            Block::Resource { uri, mime, body: Body::Blob(data) } => {
                let mime = mime.as_deref().unwrap_or("application/octet-stream");
                binary(&format!("resource {uri}"), mime, data, Saved::of(saved, index), out);
            }
            _ => out.warn("the result has a part of an unknown kind; `--json` shows it"),
        }
    }
    if let Some(structured) = outcome.unsaid() {
        out.foreign(structured.as_str());
    } else if outcome.content.is_empty() {
        out.remark("no content");
    }
}

fn binary(what: &str, mime: &str, base64: &str, saved: Option<&Saved>, out: &mut Out) {
    let bytes = base64.trim_end_matches('=').len() / 4 * 3 + base64.trim_end_matches('=').len() % 4 * 3 / 4;
    match saved {
        Some(saved) => out.remark(&format!("{what} ({mime}, {bytes} bytes): {}", saved.place())),
        None => {
            let left = "not shown; `--save DIR` or `--output FILE` writes it";
            out.remark(&format!("{what} ({mime}, {bytes} bytes): {left}"));
        }
    }
}

/// The texts as the server sent them: what the library gives was cleaned for a model.
struct Sent(Vec<Value>);

impl Sent {
    fn of(outcome: &Outcome) -> Self {
        let blocks = outcome.raw.elements("content").unwrap_or_default();
        Self(blocks.iter().map(|block| block.decode().unwrap_or_default()).collect())
    }

    fn text(&self, index: usize) -> Option<&str> {
        self.0.get(index)?.get("text")?.as_str()
    }

    fn resource(&self, index: usize) -> Option<&str> {
        self.0.get(index)?.get("resource")?.get("text")?.as_str()
    }
}
