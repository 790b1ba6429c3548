//! Parses the headers that a command printed.

use mcparley_model::config::{is_header_name, is_reserved_header};
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use serde_json::{Map, Value};

use super::HelperError;

/// Headers that only the transport can set, besides those an entry may not set either.
const OF_THE_TRANSPORT: [&str; 1] = ["accept-encoding"];

/// The prefixes of more such headers.
const OF_THE_TRANSPORT_PREFIXES: [&str; 2] = ["mcp-param-", "sec-websocket-"];

/// The headers that a command printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HelperHeaders {
    /// The headers to send.
    pub(super) sent: Vec<(String, Secret<String>)>,
    /// The names of the headers that are not sent.
    pub(super) ignored: Vec<String>,
}

impl HelperHeaders {
    /// Parses one JSON object of strings.
    pub(super) fn parse(printed: &Secret<Vec<u8>>) -> Result<Self, HelperError> {
        // The parser's message may quote the text, so it is dropped.
        let object: Map<String, Value> =
            serde_json::from_slice(printed.expose()).map_err(|_| HelperError::NotAnObject)?;
        let mut headers = Self::default();
        for (name, value) in object {
            headers.add_header(name, &value)?;
        }
        Ok(headers)
    }

    fn add_header(&mut self, name: String, value: &Value) -> Result<(), HelperError> {
        let told = || Untrusted::new(&name);
        let value = value.as_str().ok_or_else(|| HelperError::NotText { name: told() })?;
        // `echo` leaves line breaks around a value; inside it they would start another header.
        let value = value.trim_matches([' ', '\t', '\r', '\n']);
        let fits = value.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
        if !is_header_name(&name) || !fits {
            return Err(HelperError::Unsendable { name: told() });
        }
        if self.sent.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            return Err(HelperError::Twice { name: told() });
        }
        if is_transport_header(&name) {
            self.ignored.push(name)
        } else {
            self.sent.push((name, Secret::new(value.to_owned())))
        }
        Ok(())
    }
}

fn is_transport_header(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    is_reserved_header(name)
        || OF_THE_TRANSPORT.contains(&lower.as_str())
        || OF_THE_TRANSPORT_PREFIXES.iter().any(|prefix| lower.starts_with(prefix))
}
