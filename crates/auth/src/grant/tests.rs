//! The decisions of a token request, as tables.

mod answers;
mod choices;
mod refusals;

use bytes::Bytes;
use mcparley_model::secret::Secret;
use url::Url;

use super::*;
use crate::client::{Origin, Proof};

pub(crate) fn server() -> Server {
    let at = |path: &str| Url::parse("https://as.example").unwrap().join(path).unwrap();
    Server {
        authorization_endpoint: Some(at("/authorize")),
        registration_endpoint: Some(at("/register")),
        has_s256: true,
        names_issuer: true,
        ..Server::new("https://as.example".to_owned(), at("/token"))
    }
}

pub(crate) fn client() -> Client {
    Client {
        id: "client".to_owned(),
        secret: None,
        proof: Proof::Nothing,
        redirect: None,
        origin: Origin::Configured,
        scopes: Vec::new(),
    }
}

pub(crate) fn secret(text: &str) -> Secret<String> {
    Secret::new(text.to_owned())
}

pub(crate) fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|&word| word.to_owned()).collect()
}

fn page(status: u16, body: &str) -> crate::web::Page {
    crate::web::Page { status, headers: Vec::new(), body: Bytes::copy_from_slice(body.as_bytes()) }
}
