//! The callback listener over real sockets.

mod binding;
mod visitors;

use std::time::Duration;

use mcparley_model::secret::Secret;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use url::Url;

use super::{Callback, SignInEnding};
use crate::authorize::{AuthorizationAttempt, AuthorizationRequest, IdTokenDemand};
use crate::client::{ClientAuthMethod, ClientIdOrigin, OAuthClient};
use crate::metadata::AuthServerMetadata;

/// Far longer than any test takes.
const SOON: Duration = Duration::from_secs(20);

const ISSUER: &str = "https://as.example";

fn attempt(callback: &Callback) -> AuthorizationAttempt {
    let url = |text| Url::parse(text).unwrap();
    let server = AuthServerMetadata {
        authorization_endpoint: Some(url("https://as.example/authorize")),
        has_s256: true,
        names_issuer: true,
        ..AuthServerMetadata::new(ISSUER.to_owned(), url("https://as.example/token"))
    };
    let client = OAuthClient {
        id: "it".to_owned(),
        secret: None,
        proof: ClientAuthMethod::Nothing,
        redirect: None,
        origin: ClientIdOrigin::Registered,
        scopes: Vec::new(),
    };
    let wish = AuthorizationRequest {
        redirect: callback.redirect_url(),
        resource: None,
        scopes: &[],
        identity: IdTokenDemand::NotRequested,
        dpop_jkt: None,
        state_prefix: None,
    };
    AuthorizationAttempt::begin_authorization(&server, &client, &wish).unwrap().0
}

/// The request of a browser after a successful sign-in.
fn hit(attempt: &AuthorizationAttempt, code: &str) -> String {
    format!("/callback?code={code}&state={}&iss={ISSUER}", attempt.state().expose())
}

fn port(callback: &Callback) -> u16 {
    callback.redirect_url().port().unwrap()
}

/// The response to these bytes, up to the end of the connection.
async fn exchange(address: (&str, u16), request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let (mut reading, mut writing) = stream.split();
    let mut reply = Vec::new();
    let write = async {
        // A reply may arrive before the whole request is read.
        let _refused = writing.write_all(request).await;
    };
    let (_, read) = tokio::join!(write, tokio::time::timeout(SOON, reading.read_to_end(&mut reply)));
    read.unwrap().unwrap();
    String::from_utf8(reply).unwrap()
}

/// The response to a browser that requests this path.
async fn get(callback: &Callback, target: &str) -> String {
    let port = port(callback);
    let request = format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: */*\r\n\r\n");
    exchange(("127.0.0.1", port), request.as_bytes()).await
}

/// A browser that requests this path, in its own task.
fn browser(callback: &Callback, target: &str) -> JoinHandle<String> {
    let port = port(callback);
    let request = format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    tokio::spawn(async move { exchange(("127.0.0.1", port), request.as_bytes()).await })
}

fn status(reply: &str) -> &str {
    reply.get(9..12).unwrap_or(reply)
}

/// The code in a response to the attempt.
fn code(attempt: AuthorizationAttempt, answer: &crate::authorize::AuthorizationResponse) -> Secret<String> {
    attempt.accept_response(answer).unwrap().code
}
