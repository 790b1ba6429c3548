//! The opening handshake of a WebSocket, valid or not.

use crate::http::request::HttpRequest;
use crate::http::wire::{HttpWire, ResponseHeader, header_lines, status_line};
use crate::http::{ConnectionNext, TestSite};
use crate::raw::RawBytes;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use mcparley_testkit::Name;
use sha1::{Digest, Sha1};
use std::io;

/// The GUID that every server appends to the key (RFC 6455, 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Whether a request asks for a WebSocket.
pub(crate) fn is_upgrade_request(request: &HttpRequest) -> bool {
    request.header("upgrade").is_some_and(|value| value.eq_ignore_ascii_case("websocket"))
}

/// Responds to the upgrade request.
pub(crate) fn answer_upgrade(
    site: &TestSite,
    request: &HttpRequest,
    wire: &HttpWire,
) -> io::Result<ConnectionNext> {
    let scripts = &site.server.options.scripts;
    if let Some(status) = scripts.number(Name::WsStatus) {
        let status = u16::try_from(status).unwrap_or(500);
        return wire.write_text(status, "as scripted");
    }
    let Some(key) = request.header("sec-websocket-key").filter(|_| request.is_websocket()) else {
        return wire.write_text(400, "this is no request for a WebSocket");
    };
    let lie = scripts.text(Name::WsHandshake).unwrap_or_default();
    let key = if lie == "accept" { "another key" } else { key };
    let accept = BASE64_STANDARD.encode(Sha1::digest(format!("{key}{GUID}")));
    let upgrade = if lie == "upgrade" { "something" } else { "websocket" };
    let mut headers: Vec<ResponseHeader<'_>> =
        vec![("Connection", "Upgrade"), ("Upgrade", upgrade), ("Sec-WebSocket-Accept", &accept)];
    match lie {
        "no-protocol" => {}
        "other-protocol" => headers.push(("Sec-WebSocket-Protocol", "graphql-ws")),
        _ => headers
            .extend(request.header("sec-websocket-protocol").map(|_| ("Sec-WebSocket-Protocol", "mcp"))),
    }
    if lie == "extension" {
        headers.push(("Sec-WebSocket-Extensions", "permessage-deflate"));
    }
    if lie == "page" {
        return wire.write_response(
            200,
            &[("Content-Type", "text/html")],
            &RawBytes::new("<p>nothing to see</p>"),
        );
    }
    site.stats.count_event("sockets");
    wire.write_bytes(&RawBytes::new(format!("{}{}", status_line(101), header_lines(&headers))))?;
    Ok(ConnectionNext::Socket)
}
