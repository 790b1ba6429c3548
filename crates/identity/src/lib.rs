//! Verifies the access tokens that clients of a gateway send: JSON Web Tokens of one issuer.
//!
//! | to | start at |
//! |---|---|
//! | check a client's token, and learn its identity | [`AccessPolicy`] |
//! | learn why a token is refused | [`AccessRefusal`] |
//! | tell clients where they get a token (RFC 9728) | [`ProtectedResource`] |
//!
//! A token goes through `compact` (its form), `claims` (issuer, subject and times), `issuer_keys` and
//! `verification_key` (its signature) and `client_name` (the identity that it stands for). `verified_tokens`
//! remembers the result. The keys come from the issuer's metadata, through the requests of `mcparley-auth`.
//!
//! This crate knows no HTTP requests of clients: a gateway hands it the text of a token.

mod access_policy;
mod access_refusal;
mod claims;
mod client_name;
mod compact;
mod issuer_error;
mod issuer_keys;
mod key_set;
mod key_source;
mod protected_resource;
mod token_file;
mod verification_key;
mod verified_tokens;

pub use access_policy::{AccessPolicy, IssuerSettings};
pub use access_refusal::AccessRefusal;
pub use issuer_error::IssuerError;
pub use protected_resource::{ProtectedResource, is_view_name};
pub use token_file::{GeneratedToken, OneTimeToken, TokenFile, TokenFileError, TokenPolicy};
pub use verification_key::SignatureAlgorithm;
