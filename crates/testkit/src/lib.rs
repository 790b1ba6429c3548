//! Liars and mocks for tests: hostile processes, and MCP servers that follow fault scripts.
//!
//! It depends on no other crate of ours and speaks raw bytes, so that it can lie and cannot share our bugs.
//!
//! Start reading at [`Kind`] (what a hostile process does) and [`processes_tagged`] (what is left of it);
//! for servers at [`Scripted`] and [`HttpServer`] (how a test gets one) and [`SCRIPTS`] (what they can do);
//! for sign-in at [`AuthServer`] (a fake authorization server, told what to do by [`LIES`]) and [`Browser`];
//! a real OpenID provider is [`OpenIdProvider`], and pages behind `https` are on a [`TlsSite`];
//! a server program that others wrote is run by [`Foreign`]; what lies between is spoiled by [`FaultProxy`],
//! or is a [`SocksProxy`]. A test that looks at its own memory runs [`alone`].
//! The servers themselves live in the program `mcparley-testkit`, in `server.rs`, `stdio.rs` and `http.rs`.

mod alone;
mod auth_server;
mod binary;
mod browser;
mod fault;
mod foreign;
mod kind;
mod lie;
mod log;
mod percent;
mod processes;
mod provider;
mod script;
mod scripted;
mod socks;
mod tls_site;

pub use alone::alone;
pub use auth_server::{AuthServer, STATIC_CLIENT, STATIC_SECRET};
pub use binary::{binary, example, program};
pub use browser::{Browser, Page};
pub use fault::{Fault, FaultProxy};
pub use foreign::Foreign;
pub use kind::Kind;
pub use lie::{LIES, Lie, LieRow, Lies};
pub use log::{LogLine, log_lines, log_starts};
pub use percent::percent_encoded;
pub use processes::{processes_tagged, processes_with_variable};
pub use provider::{OpenIdProvider, ProtectedFastMcp};
pub use script::{Argument, Asked, MOST_MIB, Name, Place, SCRIPTS, Script, Shape};
pub use scripted::{HttpServer, Scripted};
pub use socks::{SocksAsked, SocksManner, SocksProxy};
pub use tls_site::TlsSite;
