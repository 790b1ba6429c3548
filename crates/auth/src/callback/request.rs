//! Parses the head of a callback request: request line, `Host` and `Origin`.

use mcparley_model::limits::CALLBACK_HEAD_BYTES;
use tokio::io::{AsyncRead, AsyncReadExt};

/// The end of a request head.
const END: &[u8] = b"\r\n\r\n";

/// The head of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    /// Path and query.
    pub(super) target: String,
    /// Every `Host` header.
    pub(super) hosts: Vec<String>,
    /// Every `Origin` header.
    pub(super) origins: Vec<String>,
}

/// The reason why there is no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallbackRequestError {
    /// The connection was closed.
    Closed,
    /// The request is malformed or too large.
    Malformed,
}

impl Request {
    /// Reads a request head, up to the size limit.
    pub(super) async fn read_head(
        stream: &mut (impl AsyncRead + Unpin),
    ) -> Result<Self, CallbackRequestError> {
        let mut head = Vec::new();
        let mut limited = stream.take(CALLBACK_HEAD_BYTES as u64);
        loop {
            match limited.read_buf(&mut head).await {
                Ok(0) if head.len() >= CALLBACK_HEAD_BYTES => return Err(CallbackRequestError::Malformed),
                Ok(0) | Err(_) => return Err(CallbackRequestError::Closed),
                Ok(_) => {}
            }
            if let Some(end) = head.windows(END.len()).position(|window| window == END) {
                let head = head.get(..end).unwrap_or_default();
                return std::str::from_utf8(head)
                    .ok()
                    .and_then(Self::parse)
                    .ok_or(CallbackRequestError::Malformed);
            }
        }
    }

    /// Parses a request head (RFC 9112). A head that two parsers could read differently is refused.
    fn parse(head: &str) -> Option<Self> {
        let mut lines = head.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        let is_whole = words.next().is_none() && target.starts_with('/') && version.starts_with("HTTP/1.");
        if !is_whole || head.replace("\r\n", "").contains(|c: char| c.is_control() && c != '\t') {
            return None;
        }
        let (mut hosts, mut origins) = (Vec::new(), Vec::new());
        for line in lines {
            let (name, value) = line.split_once(':').filter(|(name, _)| !name.contains([' ', '\t']))?;
            let value = value.trim().to_owned();
            match name.to_ascii_lowercase().as_str() {
                "host" => hosts.push(value),
                "origin" => origins.push(value),
                _ => {}
            }
        }
        Some(Self { method: method.to_owned(), target: target.to_owned(), hosts, origins })
    }
}
