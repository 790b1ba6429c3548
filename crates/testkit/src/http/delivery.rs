//! Faulty deliveries of a correct reply.

use super::ConnectionNext;
use super::wire::{HttpWire, ResponseHeader, header_lines, status_line};
use crate::raw::RawBytes;
use crate::server::{DueFaults, ServerReply, sized_body};
use mcparley_testkit::Name;
use serde_json::{Value, json};
use std::io;
use std::thread;
use std::time::Duration;

const JSON: ResponseHeader<'static> = ("Content-Type", "application/json");

/// Delivers the reply with the fault of a script, if one applies.
pub(crate) fn deliver_by_script(
    wire: &HttpWire,
    due: DueFaults<'_>,
    id: &Value,
    reply: &ServerReply,
) -> io::Result<Option<ConnectionNext>> {
    let body = &reply.body;
    let next = if due.has(Name::Cut) {
        write_cut_body(wire, body)
    } else if due.has(Name::SseCut) {
        write_cut_stream(wire)
    } else if let Some(size) = due.number(Name::SseInf) {
        write_endless_event(wire, size)
    } else if due.has(Name::SseGrammar) {
        write_stream_grammar(wire, body)
    } else if let Some(size) = due.number(Name::JsonBig) {
        write_big_json(wire, id, size)
    } else if due.has(Name::OtherIdOnStream) {
        write_other_id(wire, id, body)
    } else if let Some(ms) = due.number(Name::SlowHeaders) {
        write_slowly(wire, body, ms, SlowPoint::Headers)
    } else if let Some(ms) = due.number(Name::SlowBody) {
        write_slowly(wire, body, ms, SlowPoint::Body)
    } else if let Some(ms) = due.number(Name::JsonAfter) {
        thread::sleep(Duration::from_millis(ms));
        wire.write_raw_json(200, &[], body)
    } else {
        return Ok(None);
    };
    next.map(Some)
}

fn write_cut_body(wire: &HttpWire, body: &RawBytes) -> io::Result<ConnectionNext> {
    let bytes = body.to_vec()?;
    let length = bytes.len().to_string();
    let head = format!("{}{}", status_line(200), header_lines(&[JSON, ("Content-Length", &length)]));
    wire.write_bytes(&RawBytes::new(head).append_bytes(bytes.get(..bytes.len() / 2).unwrap_or_default()))?;
    Ok(ConnectionNext::Close)
}

fn write_cut_stream(wire: &HttpWire) -> io::Result<ConnectionNext> {
    wire.begin_stream(&[])?;
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "" } });
    wire.write_chunk(&RawBytes::new(format!("event: message\ndata: {note}\n\n")))?;
    wire.end_stream()
}

/// Ends when the size is reached or the client closes the connection.
fn write_endless_event(wire: &HttpWire, size: u64) -> io::Result<ConnectionNext> {
    const PIECE: u64 = 1024 * 1024;
    wire.begin_stream(&[])?;
    wire.write_chunk(&RawBytes::new("data: "))?;
    let mut left = size.saturating_sub(6);
    while left > 0 {
        let piece = left.min(PIECE);
        wire.write_chunk(&RawBytes::default().append_fill(b'x', piece))?;
        left -= piece;
    }
    Ok(ConnectionNext::Close)
}

/// Uses every feature of the event stream grammar, around one reply split into many lines.
fn write_stream_grammar(wire: &HttpWire, body: &RawBytes) -> io::Result<ConnectionNext> {
    let value: Value = serde_json::from_slice(&body.to_vec()?)?;
    let pretty = serde_json::to_string_pretty(&value)?;
    let ends = ["\n", "\r", "\r\n"];
    let mut stream =
        String::from("\u{feff}: a comment\r\r\n:\nretry: 99999999999\nid: a\0b\nunknown: field\ndata\n\n");
    stream.push_str(&": comments\n".repeat(1_000));
    stream.push_str("event: other\rdata: {\"not\":\"a message\"}\r\revent:message\r\nid: 1\r\n");
    for (line, end) in pretty.lines().map(str::trim_start).zip(ends.into_iter().cycle()) {
        // The first space after the colon is not data, and is optional.
        let space = if end == "\r" { "" } else { " " };
        stream.push_str(&format!("data:{space}{line}{end}"));
    }
    stream.push_str(": between\r\n\r\n");
    wire.begin_stream(&[])?;
    // Chunks that split line ends and characters.
    stream.as_bytes().chunks(7).try_for_each(|piece| wire.write_chunk(&RawBytes::new(piece)))?;
    wire.end_stream()
}

fn write_big_json(wire: &HttpWire, id: &Value, size: u64) -> io::Result<ConnectionNext> {
    let text = r#"{"resultType":"complete","content":[{"type":"text","text":""#;
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{text}"#);
    wire.write_raw_json(200, &[], &sized_body(&head, size, r#""}]}}"#))
}

fn write_other_id(wire: &HttpWire, id: &Value, body: &RawBytes) -> io::Result<ConnectionNext> {
    let other = id.as_i64().map_or(json!("other"), |number| json!(number + 1));
    let lie = json!({ "jsonrpc": "2.0", "id": other, "result": { "resultType": "complete", "content": [] } });
    wire.begin_stream(&[])?;
    wire.write_chunk(&RawBytes::new(format!("data: {lie}\n\n")))?;
    wire.write_chunk(&RawBytes::new("data: ").append_raw(body).append_bytes("\n\n"))?;
    wire.end_stream()
}

/// The point at which a slow response pauses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SlowPoint {
    Headers,
    Body,
}

fn write_slowly(wire: &HttpWire, body: &RawBytes, ms: u64, place: SlowPoint) -> io::Result<ConnectionNext> {
    let pause = |at: SlowPoint| {
        if at == place {
            thread::sleep(Duration::from_millis(ms));
        }
    };
    let length = body.len().to_string();
    wire.write_bytes(&RawBytes::new(status_line(200)))?;
    pause(SlowPoint::Headers);
    wire.write_bytes(&RawBytes::new(header_lines(&[JSON, ("Content-Length", &length)])))?;
    pause(SlowPoint::Body);
    wire.write_bytes(body)?;
    Ok(ConnectionNext::Keep)
}
