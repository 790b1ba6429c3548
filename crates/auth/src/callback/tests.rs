//! Who is let in at the way back, over real sockets.

mod binding;
mod visitors;

use std::time::Duration;

use mcparley_model::secret::Secret;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use url::Url;

use super::{Callback, Ending};
use crate::authorize::{Attempt, Identity, Wish};
use crate::client::{Client, Origin, Proof};
use crate::metadata::Server;

/// Far longer than anything here takes.
const SOON: Duration = Duration::from_secs(20);

const ISSUER: &str = "https://as.example";

fn attempt(callback: &Callback) -> Attempt {
    let url = |text| Url::parse(text).unwrap();
    let server = Server {
        authorization_endpoint: Some(url("https://as.example/authorize")),
        has_s256: true,
        names_issuer: true,
        ..Server::new(ISSUER.to_owned(), url("https://as.example/token"))
    };
    let client = Client {
        id: "it".to_owned(),
        secret: None,
        proof: Proof::Nothing,
        redirect: None,
        origin: Origin::Registered,
        scopes: Vec::new(),
    };
    let wish = Wish {
        redirect: callback.redirect(),
        resource: None,
        scopes: &[],
        identity: Identity::Unasked,
        dpop_jkt: None,
    };
    Attempt::begin(&server, &client, &wish).unwrap().0
}

/// What a browser asks for when the sign-in went well.
fn hit(attempt: &Attempt, code: &str) -> String {
    format!("/callback?code={code}&state={}&iss={ISSUER}", attempt.state().expose())
}

fn port(callback: &Callback) -> u16 {
    callback.redirect().port().unwrap()
}

/// What comes back for these bytes, up to the end of the connection.
async fn exchange(address: (&str, u16), request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let (mut reading, mut writing) = stream.split();
    let mut reply = Vec::new();
    let write = async {
        // A reply may come before everything is read.
        let _refused = writing.write_all(request).await;
    };
    let (_, read) = tokio::join!(write, tokio::time::timeout(SOON, reading.read_to_end(&mut reply)));
    read.unwrap().unwrap();
    String::from_utf8(reply).unwrap()
}

/// What a browser gets for this path.
async fn get(callback: &Callback, target: &str) -> String {
    let port = port(callback);
    let request = format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: */*\r\n\r\n");
    exchange(("127.0.0.1", port), request.as_bytes()).await
}

/// A browser that asks for this path, on its own.
fn browser(callback: &Callback, target: &str) -> JoinHandle<String> {
    let port = port(callback);
    let request = format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    tokio::spawn(async move { exchange(("127.0.0.1", port), request.as_bytes()).await })
}

fn status(reply: &str) -> &str {
    reply.get(9..12).unwrap_or(reply)
}

/// The code an answer to the attempt brings.
fn code(attempt: Attempt, answer: &crate::authorize::Answer) -> Secret<String> {
    attempt.accept(answer).unwrap().code
}
