//! Wrong ways to bring a right reply.

use super::Next;
use super::wire::{Header, Wire, header_lines, status_line};
use crate::raw::Raw;
use crate::server::{Due, Reply, sized};
use mcparley_testkit::Name;
use serde_json::{Value, json};
use std::io;
use std::thread;
use std::time::Duration;

const JSON: Header<'static> = ("Content-Type", "application/json");

/// Brings the reply as a script says, if one does.
pub(crate) fn by_script(wire: &Wire, due: Due<'_>, id: &Value, reply: &Reply) -> io::Result<Option<Next>> {
    let body = &reply.body;
    let next = if due.has(Name::Cut) {
        cut(wire, body)
    } else if due.has(Name::SseCut) {
        sse_cut(wire)
    } else if let Some(size) = due.number(Name::SseInf) {
        endless(wire, size)
    } else if due.has(Name::SseGrammar) {
        grammar(wire, body)
    } else if let Some(size) = due.number(Name::JsonBig) {
        big(wire, id, size)
    } else if due.has(Name::OtherIdOnStream) {
        other_id(wire, id, body)
    } else if let Some(ms) = due.number(Name::SlowHeaders) {
        slow(wire, body, ms, Slow::Headers)
    } else if let Some(ms) = due.number(Name::SlowBody) {
        slow(wire, body, ms, Slow::Body)
    } else if let Some(ms) = due.number(Name::JsonAfter) {
        thread::sleep(Duration::from_millis(ms));
        wire.raw_json(200, &[], body)
    } else {
        return Ok(None);
    };
    next.map(Some)
}

fn cut(wire: &Wire, body: &Raw) -> io::Result<Next> {
    let bytes = body.to_vec()?;
    let length = bytes.len().to_string();
    let head = format!("{}{}", status_line(200), header_lines(&[JSON, ("Content-Length", &length)]));
    wire.write(&Raw::new(head).then(bytes.get(..bytes.len() / 2).unwrap_or_default()))?;
    Ok(Next::Close)
}

fn sse_cut(wire: &Wire) -> io::Result<Next> {
    wire.begin_stream(&[])?;
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "" } });
    wire.chunk(&Raw::new(format!("event: message\ndata: {note}\n\n")))?;
    wire.end_stream()
}

/// Ends when the size is reached or the client has had enough.
fn endless(wire: &Wire, size: u64) -> io::Result<Next> {
    const PIECE: u64 = 1024 * 1024;
    wire.begin_stream(&[])?;
    wire.chunk(&Raw::new("data: "))?;
    let mut left = size.saturating_sub(6);
    while left > 0 {
        let piece = left.min(PIECE);
        wire.chunk(&Raw::default().fill(b'x', piece))?;
        left -= piece;
    }
    Ok(Next::Close)
}

/// Everything the grammar of event streams allows, around one reply in many lines.
fn grammar(wire: &Wire, body: &Raw) -> io::Result<Next> {
    let value: Value = serde_json::from_slice(&body.to_vec()?)?;
    let pretty = serde_json::to_string_pretty(&value)?;
    let ends = ["\n", "\r", "\r\n"];
    let mut stream =
        String::from("\u{feff}: a comment\r\r\n:\nretry: 99999999999\nid: a\0b\nunknown: field\ndata\n\n");
    stream.push_str(&": comments\n".repeat(1_000));
    stream.push_str("event: other\rdata: {\"not\":\"a message\"}\r\revent:message\r\nid: 1\r\n");
    for (line, end) in pretty.lines().map(str::trim_start).zip(ends.into_iter().cycle()) {
        // The first space behind the colon is no data, and need not be there.
        let space = if end == "\r" { "" } else { " " };
        stream.push_str(&format!("data:{space}{line}{end}"));
    }
    stream.push_str(": between\r\n\r\n");
    wire.begin_stream(&[])?;
    // Pieces that split line ends and characters.
    stream.as_bytes().chunks(7).try_for_each(|piece| wire.chunk(&Raw::new(piece)))?;
    wire.end_stream()
}

fn big(wire: &Wire, id: &Value, size: u64) -> io::Result<Next> {
    let text = r#"{"resultType":"complete","content":[{"type":"text","text":""#;
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{text}"#);
    wire.raw_json(200, &[], &sized(&head, size, r#""}]}}"#))
}

fn other_id(wire: &Wire, id: &Value, body: &Raw) -> io::Result<Next> {
    let other = id.as_i64().map_or(json!("other"), |number| json!(number + 1));
    let lie = json!({ "jsonrpc": "2.0", "id": other, "result": { "resultType": "complete", "content": [] } });
    wire.begin_stream(&[])?;
    wire.chunk(&Raw::new(format!("data: {lie}\n\n")))?;
    wire.chunk(&Raw::new("data: ").join(body).then("\n\n"))?;
    wire.end_stream()
}

/// Where a slow answer stops for a while.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slow {
    Headers,
    Body,
}

fn slow(wire: &Wire, body: &Raw, ms: u64, place: Slow) -> io::Result<Next> {
    let pause = |at: Slow| {
        if at == place {
            thread::sleep(Duration::from_millis(ms));
        }
    };
    let length = body.len().to_string();
    wire.write(&Raw::new(status_line(200)))?;
    pause(Slow::Headers);
    wire.write(&Raw::new(header_lines(&[JSON, ("Content-Length", &length)])))?;
    pause(Slow::Body);
    wire.write(body)?;
    Ok(Next::Keep)
}
