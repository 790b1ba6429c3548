//! How an HTTP connection becomes a WebSocket (RFC 6455, 4).
//!
//! The request is one like all our others, so proxies, certificates, redirects, sign-ins and every kind of trouble
//! are those of [`crate::transport::http`].

use bytes::Bytes;
use mcparley_model::text::display;
use reqwest::header::{
    CONNECTION, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use reqwest::{Method, Response, StatusCode, Upgraded};
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use url::Url;

use crate::failure::Failure;
use crate::transport::http::http_sender::HttpSender;
use crate::transport::http::{HttpTarget, Network, body, refusal};

/// What is spoken on the socket.
const SUBPROTOCOL: &str = "mcp";

/// Connects, and agrees on a WebSocket.
pub(super) async fn connect(target: &HttpTarget, network: &Network) -> Result<Upgraded, Failure> {
    let target = HttpTarget { url: place(&target.url), ..target.clone() };
    let http_sender = HttpSender::new(&target, network, is_ours)?.through_tunnels();
    let key = generate_key();
    let mut headers = http_sender.headers();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    headers.extend(HeaderValue::from_str(&key).map(|key| (SEC_WEBSOCKET_KEY, key)));
    let response = http_sender.send(Method::GET, &target.url, headers, Bytes::new(), None).await?;
    match response.status() {
        StatusCode::SWITCHING_PROTOCOLS => check(&response, &key)?,
        status if status.is_client_error() || status.is_server_error() => {
            return Err(refusal::of(response, None).await);
        }
        status => {
            let text = body::excerpt(&body::beginning(response).await);
            let status = status.as_u16();
            return Err(wrong(&format!("it answers with status {status} and not as a WebSocket: {text}")));
        }
    }
    response.upgrade().await.map_err(|_| Failure::Closed { exit: None, sent: false })
}

/// The same place under the scheme its first request has.
fn place(url: &Url) -> Url {
    let mut place = url.clone();
    let scheme = match url.scheme() {
        "ws" => "http",
        "wss" => "https",
        // Whether it is one we can use is checked with the rest of the target.
        other => other,
    };
    // All of these are schemes with a host, between which a URL may change.
    let _always = place.set_scheme(scheme);
    place
}

/// Whether the protocol, and nobody else, says what stands in this header.
fn is_ours(name: &HeaderName) -> bool {
    name.as_str().starts_with("sec-websocket-")
}

/// Whether the server has understood what it agrees to.
fn check(response: &Response, key: &str) -> Result<(), Failure> {
    if !has_word(response, &UPGRADE, "websocket") || !has_word(response, &CONNECTION, "upgrade") {
        return Err(wrong("it switches to something that is no WebSocket"));
    }
    let accepted = response.headers().get(SEC_WEBSOCKET_ACCEPT);
    if accepted.is_none_or(|accepted| accepted.as_bytes() != derive_accept_key(key.as_bytes()).as_bytes()) {
        return Err(wrong("it does not accept the key it was given"));
    }
    if response.headers().contains_key(SEC_WEBSOCKET_EXTENSIONS) {
        return Err(wrong("it uses a WebSocket extension that nobody asked for"));
    }
    // Many choose none, and speak it all the same.
    for chosen in response.headers().get_all(SEC_WEBSOCKET_PROTOCOL) {
        if chosen != SUBPROTOCOL {
            let chosen = String::from_utf8_lossy(chosen.as_bytes());
            return Err(wrong(&format!(
                "it chooses the subprotocol `{}`, not `{SUBPROTOCOL}`",
                display(&chosen)
            )));
        }
    }
    Ok(())
}

fn has_word(response: &Response, name: &HeaderName, word: &str) -> bool {
    let values = response.headers().get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|found| found.trim().eq_ignore_ascii_case(word))
}

fn wrong(text: &str) -> Failure {
    Failure::Protocol(text.into())
}
