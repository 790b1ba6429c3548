//! The decisions of a token request, as tables.

mod answers;
mod choices;
mod refusals;

use bytes::Bytes;
use mcparley_model::secret::Secret;
use url::Url;

use super::*;
use crate::client::{Origin, Proof};
use crate::metadata::Found;

pub(crate) fn server() -> Server {
    let at = |path: &str| Url::parse("https://as.example").unwrap().join(path).unwrap();
    Server {
        issuer: "https://as.example".to_owned(),
        authorization_endpoint: Some(at("/authorize")),
        token_endpoint: at("/token"),
        registration_endpoint: Some(at("/register")),
        device_endpoint: None,
        revocation_endpoint: None,
        scopes: Vec::new(),
        grants: None,
        proofs: None,
        signing: None,
        has_s256: true,
        names_issuer: true,
        takes_documents: false,
        dpop: Vec::new(),
        found: Found::Described,
    }
}

pub(crate) fn client() -> Client {
    Client {
        id: "client".to_owned(),
        secret: None,
        proof: Proof::Nothing,
        redirect: None,
        origin: Origin::Configured,
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
