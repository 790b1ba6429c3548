//! The callback listener over real sockets.

mod binding;
mod visitors;

use std::time::Duration;

use mcparley_model::secret::Secret;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use url::Url;

use super::{Callback, CallbackEndpoint, SignInEnding};
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
        state_prefix: callback.state_prefix(),
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

// G9
#[test]
fn state_of_a_sign_in_begins_with_the_gateway_of_several_that_began_it() {
    let endpoint = CallbackEndpoint::new(&Url::parse("https://mcp.example").unwrap()).unwrap();
    assert_eq!(Callback::at_endpoint(&endpoint).state_prefix(), None);
    endpoint.name_gateway("mpi1.sealed".to_owned());
    let callback = Callback::at_endpoint(&endpoint);
    assert_eq!(callback.state_prefix(), Some("mpi1.sealed"));
    let attempt = attempt(&callback);
    let query = hit(&attempt, "c0de").split_once('?').unwrap().1.to_owned();
    assert_eq!(CallbackEndpoint::gateway_of(&query).as_deref(), Some("mpi1.sealed"));
    let (_, random) = attempt.state().expose().rsplit_once('.').unwrap();
    assert!(random.len() >= 43, "{random}");
    for other in ["code=c0de&state=random&iss=x", "code=c0de", "", "state=a.b"] {
        assert_eq!(CallbackEndpoint::gateway_of(other), None, "{other}");
    }
}
