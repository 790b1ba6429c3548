//! Parameters of a query or form: percent-decoded, with order and duplicates kept.

use crate::http::request::HttpRequest;
use mcparley_testkit::percent_encode;
use serde_json::{Map, Value, json};

/// The parameters of a request.
#[derive(Debug, Default)]
pub(crate) struct FormParameters(Vec<(String, String)>);

impl FormParameters {
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (percent_decode(name), percent_decode(value))
        };
        Self(pairs.map(pair).collect())
    }

    pub(crate) fn from_body(request: &HttpRequest) -> Self {
        Self::parse(&String::from_utf8_lossy(&request.body))
    }

    /// The first parameter with that name.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The parameters for the `/stats` page, with the client and its authentication method.
    pub(crate) fn to_value_with(&self, shown: &super::clients::ClientCredentials) -> Value {
        let mut page = self.to_map();
        page.insert("(method)".to_owned(), json!(shown.method));
        page.insert("(client)".to_owned(), json!(shown.id));
        Value::Object(page)
    }

    pub(crate) fn to_map(&self) -> Map<String, Value> {
        self.0.iter().map(|(name, value)| (name.clone(), json!(value))).collect()
    }
}

/// A URL with further query parameters.
pub(crate) fn append_parameters(url: &str, parameters: &[(&str, String)]) -> String {
    let pairs: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{name}={}", percent_encode(value))).collect();
    let mark = if url.contains('?') { '&' } else { '?' };
    format!("{url}{mark}{}", pairs.join("&"))
}

pub(crate) fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let hex = behind.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = hex.filter(|_| first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        rest = if byte.is_some() { behind.get(2..).unwrap_or_default() } else { behind };
        bytes.push(byte.unwrap_or(if first == b'+' { b' ' } else { first }));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
