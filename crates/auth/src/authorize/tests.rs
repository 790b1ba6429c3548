//! What the browser is sent out with, and which answers are believed.

mod answers;
mod issuers;
mod mutations;
mod requests;

use mcparley_model::secret::Secret;
use url::Url;

use super::{Answer, Attempt, Identity, Wish};
use crate::client::{Client, Origin, Proof};
use crate::metadata::{Found, Server};
use crate::page::Page;

const ISSUER: &str = "https://as.example";

/// An authorization server that describes itself.
fn server() -> Server {
    Server {
        authorization_endpoint: Some(url("https://as.example/authorize")),
        has_s256: true,
        names_issuer: true,
        ..Server::new(ISSUER.to_owned(), url("https://as.example/token"))
    }
}

fn client() -> Client {
    Client {
        id: "the client".to_owned(),
        secret: Some(Secret::new("secret-canary".to_owned())),
        proof: Proof::Basic,
        redirect: None,
        origin: Origin::Registered,
        scopes: Vec::new(),
    }
}

fn begin(server: &Server, scopes: &[&str]) -> (Attempt, Page) {
    let scopes: Vec<String> = scopes.iter().map(ToString::to_string).collect();
    let wish = Wish {
        redirect: &redirect(),
        resource: Some("https://mcp.example/mcp"),
        scopes: &scopes,
        identity: Identity::Unasked,
        dpop_jkt: None,
    };
    Attempt::begin(server, &client(), &wish).unwrap()
}

fn redirect() -> Url {
    url("http://127.0.0.1:50000/callback")
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

/// An answer with the right state and more parameters.
fn answer(attempt: &Attempt, rest: &str) -> Answer {
    Answer::from_query(&format!("state={}&{rest}", attempt.state().expose())).unwrap()
}
