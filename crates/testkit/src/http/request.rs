//! Reads one HTTP/1.1 request.

use serde_json::{Map, Value, json};
use std::io::{self, BufRead, Read};

const HEAD: u64 = 256 * 1024;
const BODY: u64 = 256 * 1024 * 1024;

/// A request of a client.
#[derive(Debug)]
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    query: String,
    /// The headers, with lowercase names.
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl HttpRequest {
    /// Reads the next request of a connection; none at its end.
    pub(crate) fn read_next(reader: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut head = reader.by_ref().take(HEAD);
        let Some(start) = read_line(&mut head)? else {
            return Ok(None);
        };
        let mut words = start.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut headers = Vec::new();
        while let Some(header) = read_line(&mut head)?.filter(|line| !line.is_empty()) {
            let (name, value) = header.split_once(':').unwrap_or((&header, ""));
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let (method, path, query) = (method.to_owned(), path.to_owned(), query.to_owned());
        let mut request = Self { method, path, query, headers, body: Vec::new() };
        request.body = request.read_body(reader)?;
        Ok(Some(request))
    }

    /// The first header with that lowercase name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Whether a header lists a media type or `*/*`.
    pub(crate) fn lists_media_type(&self, name: &str, media: &str) -> bool {
        let listed = self.header(name).unwrap_or_default().split(',');
        listed
            .map(|item| item.split(';').next().unwrap_or_default().trim())
            .any(|item| item == media || item == "*/*")
    }

    /// A value of the query.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        let mut pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// The raw query.
    pub(crate) fn query_text(&self) -> &str {
        &self.query
    }

    /// Whether the client wants the connection closed.
    pub(crate) fn is_last(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }

    /// Whether the request is a WebSocket upgrade by RFC 6455.
    pub(crate) fn is_websocket(&self) -> bool {
        let is = |name: &str, value: &str| {
            self.header(name).is_some_and(|found| found.eq_ignore_ascii_case(value))
        };
        self.method == "GET" && is("connection", "upgrade") && is("sec-websocket-version", "13")
    }

    /// The request as a line of the log.
    pub(crate) fn to_json(&self) -> Value {
        let headers: Map<String, Value> =
            self.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let body = String::from_utf8_lossy(&self.body);
        json!({ "method": self.method, "path": self.path, "headers": headers, "body": body })
    }

    fn read_body(&self, reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if self.header("transfer-encoding").is_some() {
            return read_chunked_body(reader);
        }
        let length = self.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
        if length > BODY {
            return Err(io::Error::other("the body is too large"));
        }
        reader.take(length).read_to_end(&mut body)?;
        Ok(body)
    }
}

fn read_line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    if reader.read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    Ok(Some(String::from_utf8_lossy(text).into_owned()))
}

fn read_chunked_body(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(size) = read_line(&mut reader.by_ref().take(HEAD))? {
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(io::Error::other)?;
        if size + body.len() as u64 > BODY {
            return Err(io::Error::other("the body is too large"));
        }
        reader.by_ref().take(size).read_to_end(&mut body)?;
        read_line(&mut reader.by_ref().take(HEAD))?;
        if size == 0 {
            break;
        }
    }
    Ok(body)
}
