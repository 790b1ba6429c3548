//! Authentication to servers: OAuth sign-in, XAA, token storage and headers helpers.
//!
//! | to | start at |
//! |---|---|
//! | read the metadata of an authorization server | [`metadata`] |
//! | discover that authorization server, and check its metadata | [`discover`] |
//! | parse a server's challenge, and choose the scopes to request | [`challenge`], [`scopes`] |
//! | hold our client and its tokens | [`client`], [`tokens`] |
//! | register as a client | [`register`] |
//! | request and revoke tokens | [`grant`], [`device`], [`exchange`], [`revoke`] |
//! | sign client assertions and proofs of possession | [`jwt`], [`dpop`] |
//! | send requests to addresses that servers have named | [`web`] |
//! | store secrets between runs | [`vault`] |
//! | ask the user for consent | [`authorize`], [`browser_page`], [`browser`], [`callback`] |
//! | run a command of the user that prints headers | [`headers_helper`] |
//!
//! Files: the vault owns `vault`, `key` and `locks/` in its folder.
//!
//! This crate implements the `Authorizer` of `wire` and does not depend on tools.

mod account;
mod accounts;
pub mod authorize;
pub mod browser;
pub mod browser_page;
pub mod callback;
pub mod challenge;
pub mod client;
pub mod device;
pub mod discover;
pub mod dpop;
mod error;
pub mod exchange;
mod flow;
pub mod grant;
pub mod headers_helper;
pub mod identity;
pub mod jwt;
pub mod metadata;
pub mod register;
pub mod revoke;
pub mod scopes;
mod sign_in_record;
mod task;
pub mod tokens;
pub mod vault;
pub mod web;

pub use account::{
    Account, IssuedToken, PrincipalSignIn, SignInStatus, SignInWatcher, SignOutOutcome, SubjectTokenSource,
};
pub use accounts::{Accounts, AccountsSettings};
pub use browser_page::BrowserPage;
pub use callback::{CallbackEndpoint, CallbackReply};
pub use challenge::TokenChallenge;
pub use error::{ResponsibleParty, SignInError};
pub use flow::{Flow, SignInMethod};
pub use identity::{IdentitySettings, UserIdentity};
pub use revoke::RevocationReport;
