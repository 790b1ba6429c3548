//! Who we are to a server: OAuth, XAA, token stores and header helpers.
//!
//! | to | start at |
//! |---|---|
//! | know what a server's authorization server can do | [`metadata`] |
//! | find that authorization server, and judge what it says | [`discover`] |
//! | read what a server asks for when it refuses, and choose what to ask for | [`challenge`], [`scopes`] |
//! | know who we are to it, and what it gave us | [`client`], [`tokens`] |
//! | become known to it | [`register`] |
//! | ask it for tokens, and give them back | [`grant`], [`device`], [`exchange`], [`revoke`] |
//! | prove who we are, and that we hold a key | [`jwt`], [`dpop`] |
//! | reach addresses that others have named | [`web`] |
//! | keep secrets between two runs | [`vault`] |
//! | ask a person for consent | [`authorize`]; a [`browser`] opens its [`page`], and the answer comes to the [`callback`] |
//! | let a command of the user make the headers | [`headers_helper`] |
//!
//! Files: the vault owns `vault`, `key` and `locks/` of the folder it is given.
//!
//! The room implements the `Authorizer` of `wire` and knows nothing of tools.

mod account;
mod accounts;
pub mod authorize;
pub mod browser;
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
pub mod page;
mod record;
pub mod register;
pub mod revoke;
pub mod scopes;
mod task;
pub mod tokens;
pub mod vault;
pub mod web;

pub use account::{Account, SignInStanding, SignIns, SignedOut};
pub use accounts::{Accounts, AccountsSettings};
pub use challenge::Asked;
pub use error::{Cause, SignInError};
pub use flow::{Flow, Way};
pub use identity::{Identity, IdentitySettings};
pub use page::Page;
pub use revoke::Revoked;
