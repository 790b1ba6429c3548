//! The id of an event: its stream, its number there, and the request that it belongs to.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcparley_wire::RawJson;

/// The parts of an event id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventId {
    /// The number of the stream.
    pub(crate) stream: u64,
    /// The number of the event in the stream.
    pub(crate) event: u64,
    /// The id of the request that the stream belongs to.
    pub(crate) request: Option<RawJson>,
}

impl EventId {
    /// Parses an event id that a client returns.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let stream = u64::from_str_radix(parts.next()?, 16).ok()?;
        let event = parts.next()?.parse().ok()?;
        let request = URL_SAFE_NO_PAD.decode(parts.next()?).ok()?;
        let request = std::str::from_utf8(&request).ok().filter(|text| !text.is_empty());
        let request = request.and_then(|text| RawJson::parse(text).ok());
        Some(Self { stream, event, request })
    }
}
