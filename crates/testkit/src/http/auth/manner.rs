//! The delivery of a response of the authorization server: complete, delayed, damaged, or not at all.

use super::{OAuthReply, ServerOrigins};
use crate::http::ConnectionNext;
use crate::http::wire::{HttpWire, ResponseHeader, header_lines, status_line};
use crate::life::LIFE;
use crate::raw::RawBytes;
use serde_json::Value;
use std::io;
use std::time::Duration;

const MIB: u64 = 1024 * 1024;
/// One more redirect than a client may follow.
const HOPS: u32 = 6;

/// How a response is delivered.
#[derive(Clone, Debug)]
pub(crate) enum OAuthDelivery {
    Whole,
    /// Delayed by this duration.
    After(Duration),
    /// Status 500 instead of the response.
    Broken,
    /// Invalid JSON.
    Garbage,
    /// Two MiB of JSON.
    Huge,
    /// A body that never ends.
    Endless,
    /// The correct body with a wrong content type.
    Html,
    /// A redirect to another origin.
    Elsewhere,
    /// A redirect to a link-local address.
    Inside,
    /// A chain of redirects.
    Hops,
    /// No response, for ever.
    Hang,
    /// The connection is closed without a response.
    Lost,
}

impl OAuthDelivery {
    /// The delivery that a word of a lie asks for; none if the document is absent.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "500" => Self::Broken,
            "garbage" => Self::Garbage,
            "huge" => Self::Huge,
            "endless" => Self::Endless,
            "html" => Self::Html,
            "redirect" => Self::Elsewhere,
            "inside" => Self::Inside,
            "hops" => Self::Hops,
            "hang" => Self::Hang,
            "lost" => Self::Lost,
            "none" => return None,
            _ => Self::Whole,
        })
    }

    /// Sends a response with this delivery.
    pub(crate) fn send_reply(
        &self,
        wire: &HttpWire,
        origins: &ServerOrigins,
        reply: &OAuthReply,
    ) -> io::Result<ConnectionNext> {
        match self {
            Self::Whole => write_reply(wire, reply),
            Self::After(time) if wire.is_closed_within(*time) => Ok(ConnectionNext::Close),
            Self::After(_) => write_reply(wire, reply),
            Self::Broken => wire.write_text(500, "as told"),
            Self::Garbage => wire.write_raw_json(200, &[], &RawBytes::new("{\"access_token\": canary")),
            Self::Huge => {
                let body = RawBytes::new("{\"padding\":\"").append_fill(b'x', 2 * MIB).append_bytes("\"}");
                wire.write_raw_json(200, &[], &body)
            }
            Self::Endless => write_endless_body(wire),
            Self::Html => wire.write_response(200, &[("Content-Type", "text/html")], &reply.to_raw()),
            Self::Elsewhere => write_redirect(wire, &format!("{}/elsewhere", origins.other)),
            Self::Inside => write_redirect(wire, "http://169.254.169.254/latest/meta-data"),
            Self::Hops => write_redirect(wire, "/hop/1"),
            Self::Hang => {
                wire.is_closed_within(LIFE);
                Ok(ConnectionNext::Close)
            }
            Self::Lost => Ok(ConnectionNext::Close),
        }
    }
}

/// One redirect of [`OAuthDelivery::Hops`].
pub(crate) fn redirect_hop(path: &str) -> Option<OAuthReply> {
    let count: u32 = path.strip_prefix("/hop/")?.parse().ok()?;
    (count <= HOPS).then(|| OAuthReply::redirect(format!("/hop/{}", count + 1)))
}

fn write_reply(wire: &HttpWire, reply: &OAuthReply) -> io::Result<ConnectionNext> {
    let headers: Vec<ResponseHeader<'_>> =
        reply.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    match reply.body {
        Value::Null => wire.write_response(reply.status, &headers, &RawBytes::default()),
        _ => wire.write_raw_json(reply.status, &headers, &reply.to_raw()),
    }
}

fn write_redirect(wire: &HttpWire, to: &str) -> io::Result<ConnectionNext> {
    wire.write_response(302, &[("Location", to)], &RawBytes::default())
}

/// Sends a byte at an interval, so that only a limit on the whole body or time ends it.
fn write_endless_body(wire: &HttpWire) -> io::Result<ConnectionNext> {
    let headers = [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")];
    wire.write_bytes(&RawBytes::new(format!("{}{}", status_line(200), header_lines(&headers))))?;
    while !wire.is_closed_within(Duration::from_millis(50)) {
        wire.write_chunk(&RawBytes::new(" "))?;
    }
    Ok(ConnectionNext::Close)
}
