//! The decisions of a token request, as tables.

mod answers;
mod choices;
mod refusals;

use bytes::Bytes;
use mcparley_model::secret::Secret;
use url::Url;

use super::*;
use crate::client::{ClientAuthMethod, ClientIdOrigin};

pub(crate) fn server() -> AuthServerMetadata {
    let at = |path: &str| Url::parse("https://as.example").unwrap().join(path).unwrap();
    AuthServerMetadata {
        authorization_endpoint: Some(at("/authorize")),
        registration_endpoint: Some(at("/register")),
        has_s256: true,
        names_issuer: true,
        ..AuthServerMetadata::new("https://as.example".to_owned(), at("/token"))
    }
}

pub(crate) fn client() -> OAuthClient {
    OAuthClient {
        id: "client".to_owned(),
        secret: None,
        proof: ClientAuthMethod::Nothing,
        redirect: None,
        origin: ClientIdOrigin::Configured,
        scopes: Vec::new(),
    }
}

pub(crate) fn secret(text: &str) -> Secret<String> {
    Secret::new(text.to_owned())
}

pub(crate) fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|&word| word.to_owned()).collect()
}

fn page(status: u16, body: &str) -> crate::web::WebResponse {
    crate::web::WebResponse { status, headers: Vec::new(), body: Bytes::copy_from_slice(body.as_bytes()) }
}
