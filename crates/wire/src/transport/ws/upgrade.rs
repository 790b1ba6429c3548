//! Upgrades an HTTP connection to a WebSocket (RFC 6455, 4).
//!
//! The request is sent like all others, so proxies, certificates, redirects, sign-in and error classification
//! are those of [`crate::transport::http`].

use bytes::Bytes;
use mcparley_model::text::display_line;
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

/// The subprotocol of the socket.
const SUBPROTOCOL: &str = "mcp";

/// Connects, and upgrades the connection to a WebSocket.
pub(super) async fn connect_websocket(target: &HttpTarget, network: &Network) -> Result<Upgraded, Failure> {
    let target = HttpTarget { url: http_url(&target.url), ..target.clone() };
    let http_sender = HttpSender::new(&target, network, is_websocket_header)?.with_tunnels();
    let key = generate_key();
    let mut headers = http_sender.base_headers();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    headers.extend(HeaderValue::from_str(&key).map(|key| (SEC_WEBSOCKET_KEY, key)));
    let response = http_sender.send_request(Method::GET, &target.url, headers, Bytes::new(), None).await?;
    match response.status() {
        StatusCode::SWITCHING_PROTOCOLS => check_upgrade(&response, &key)?,
        status if status.is_client_error() || status.is_server_error() => {
            return Err(refusal::read_refusal(response, None).await);
        }
        status => {
            let text = body::body_excerpt(&body::read_beginning(response).await);
            let status = status.as_u16();
            return Err(protocol_failure(&format!(
                "it answers with status {status} and not as a WebSocket: {text}"
            )));
        }
    }
    response.upgrade().await.map_err(|_| Failure::Closed { exit: None, sent: false })
}

/// The same URL with the HTTP scheme of the upgrade request.
fn http_url(url: &Url) -> Url {
    let mut place = url.clone();
    let scheme = match url.scheme() {
        "ws" => "http",
        "wss" => "https",
        // Other schemes are rejected with the rest of the target.
        other => other,
    };
    // All of these are schemes with a host, between which a URL may change.
    let _always = place.set_scheme(scheme);
    place
}

/// Whether the protocol reserves this header, so that the configuration cannot set it.
fn is_websocket_header(name: &HeaderName) -> bool {
    name.as_str().starts_with("sec-websocket-")
}

/// Checks the server's upgrade response.
fn check_upgrade(response: &Response, key: &str) -> Result<(), Failure> {
    if !has_word(response, &UPGRADE, "websocket") || !has_word(response, &CONNECTION, "upgrade") {
        return Err(protocol_failure("it does not upgrade to a WebSocket"));
    }
    let accepted = response.headers().get(SEC_WEBSOCKET_ACCEPT);
    if accepted.is_none_or(|accepted| accepted.as_bytes() != derive_accept_key(key.as_bytes()).as_bytes()) {
        return Err(protocol_failure("it does not accept the key it was given"));
    }
    if response.headers().contains_key(SEC_WEBSOCKET_EXTENSIONS) {
        return Err(protocol_failure("it uses a WebSocket extension that was not requested"));
    }
    // Many servers choose no subprotocol, and speak MCP all the same.
    for chosen in response.headers().get_all(SEC_WEBSOCKET_PROTOCOL) {
        if chosen != SUBPROTOCOL {
            let chosen = String::from_utf8_lossy(chosen.as_bytes());
            return Err(protocol_failure(&format!(
                "it chooses the subprotocol `{}`, not `{SUBPROTOCOL}`",
                display_line(&chosen)
            )));
        }
    }
    Ok(())
}

fn has_word(response: &Response, name: &HeaderName, word: &str) -> bool {
    let values = response.headers().get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|found| found.trim().eq_ignore_ascii_case(word))
}

fn protocol_failure(text: &str) -> Failure {
    Failure::Protocol(text.into())
}
