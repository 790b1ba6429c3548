//! How an answer of the authorization server travels: whole, late, spoiled, or not at all.

use super::{Origins, Reply};
use crate::http::Next;
use crate::http::wire::{Header, Wire, header_lines, status_line};
use crate::life::LIFE;
use crate::raw::Raw;
use serde_json::Value;
use std::io;
use std::time::Duration;

const MIB: u64 = 1024 * 1024;
/// One more redirect than a client may follow.
const HOPS: u32 = 6;

/// What becomes of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Manner {
    Whole,
    /// So much later.
    After(Duration),
    /// 500 in its place.
    Broken,
    /// JSON that is none.
    Garbage,
    /// JSON of two MiB.
    Huge,
    /// A body that never ends.
    Endless,
    /// The right body under a wrong content type.
    Html,
    /// A redirect to another origin.
    Elsewhere,
    /// A redirect to an address that only this machine has.
    Inside,
    /// A row of redirects.
    Hops,
    /// Nothing, for ever.
    Hang,
    /// The connection ends without a word.
    Lost,
}

impl Manner {
    /// The manner of a document; none when it is not there at all.
    pub(crate) fn of_document(word: &str) -> Option<Self> {
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

    /// Sends an answer in this manner.
    pub(crate) fn send(&self, wire: &Wire, origins: &Origins, reply: &Reply) -> io::Result<Next> {
        match self {
            Self::Whole => write(wire, reply),
            Self::After(time) if wire.is_gone_within(*time) => Ok(Next::Close),
            Self::After(_) => write(wire, reply),
            Self::Broken => wire.refuse(500, "as told"),
            Self::Garbage => wire.raw_json(200, &[], &Raw::new("{\"access_token\": canary")),
            Self::Huge => {
                let body = Raw::new("{\"padding\":\"").fill(b'x', 2 * MIB).then("\"}");
                wire.raw_json(200, &[], &body)
            }
            Self::Endless => endless(wire),
            Self::Html => wire.whole(200, &[("Content-Type", "text/html")], &reply.raw()),
            Self::Elsewhere => redirect(wire, &format!("{}/elsewhere", origins.other)),
            Self::Inside => redirect(wire, "http://169.254.169.254/latest/meta-data"),
            Self::Hops => redirect(wire, "/hop/1"),
            Self::Hang => {
                wire.is_gone_within(LIFE);
                Ok(Next::Close)
            }
            Self::Lost => Ok(Next::Close),
        }
    }
}

/// A hop of [`Manner::Hops`].
pub(crate) fn hop(path: &str) -> Option<Reply> {
    let count: u32 = path.strip_prefix("/hop/")?.parse().ok()?;
    (count <= HOPS).then(|| Reply::redirect(format!("/hop/{}", count + 1)))
}

fn write(wire: &Wire, reply: &Reply) -> io::Result<Next> {
    let headers: Vec<Header<'_>> =
        reply.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    match reply.body {
        Value::Null => wire.whole(reply.status, &headers, &Raw::default()),
        _ => wire.raw_json(reply.status, &headers, &reply.raw()),
    }
}

fn redirect(wire: &Wire, to: &str) -> io::Result<Next> {
    wire.whole(302, &[("Location", to)], &Raw::default())
}

/// A byte now and then, so that only a limit on the whole ends it.
fn endless(wire: &Wire) -> io::Result<Next> {
    let headers = [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")];
    wire.write(&Raw::new(format!("{}{}", status_line(200), header_lines(&headers))))?;
    while !wire.is_gone_within(Duration::from_millis(50)) {
        wire.chunk(&Raw::new(" "))?;
    }
    Ok(Next::Close)
}
