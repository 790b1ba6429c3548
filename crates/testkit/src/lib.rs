//! Test doubles: hostile processes, and MCP servers with scripted faults.
//!
//! It depends on no other crate of the workspace and speaks raw bytes, so that it can break the protocol and
//! cannot share the bugs of the code under test.
//!
//! Start reading at [`HostileKind`] (how a process resists termination) and [`processes_tagged`] (which
//! processes are left); for servers at [`ScriptedStdio`], [`HttpServer`] and [`SCRIPTS`] (their faults); for
//! sign-in at [`AuthServer`] (a fake authorization server, with the faults in [`LIES`]) and [`Browser`]. A
//! real OpenID provider is [`OpenIdProvider`], [`TokenIssuer`] signs any token that a test wants, and [`TlsSite`] serves pages over `https`. [`ExternalServer`]
//! runs a third-party server program. [`FaultProxy`] injects network faults; [`SocksProxy`] is a SOCKS5
//! proxy. [`run_in_own_process`] isolates a test that measures its memory, [`TraceRecorder`] records spans and
//! events, [`TraceCollector`] is an OpenTelemetry collector, [`TerminalSession`] runs a program on a terminal whose screen a test reads, and [`TmuxSession`] in a
//! pane of tmux. [`ModelServer`] is a
//! scripted model that checks each request. [`RecordReport`] checks every message that scripted servers received
//! against the schema of its protocol revision. The servers themselves are in the program `mcparley-testkit`, in
//! `server.rs`, `stdio.rs`, `http.rs` and `model.rs`.

mod alone;
mod auth_server;
mod binary;
mod browser;
mod fault;
mod foreign;
mod kind;
mod lie;
mod log;
mod model_check;
mod model_server;
mod percent;
mod processes;
mod protocol;
mod provider;
mod script;
mod scripted;
mod socks;
mod terminal;
mod tls_site;
mod tmux;
mod token_issuer;
mod trace_collector;
mod trace_recorder;

pub use alone::run_in_own_process;
pub use auth_server::{AuthServer, STATIC_CLIENT, STATIC_SECRET};
pub use binary::{example_path, program_path, testkit_path};
pub use browser::{Browser, Page};
pub use fault::{Fault, FaultProxy};
pub use foreign::ExternalServer;
pub use kind::HostileKind;
pub use lie::{LIES, Lie, LieRow, LieSet};
pub use log::{LogLine, log_lines, log_starts};
pub use model_check::{ModelApi, order_problems, schema_problems};
pub use model_server::ModelServer;
pub use percent::percent_encode;
pub use processes::{processes_tagged, processes_with_variable};
pub use protocol::record::{MessageReceiver, MessageRecord, RecordReport};
pub use protocol::{
    client_message_violation, protocol_revisions, schema_violation, server_message_violation,
};
pub use provider::{OpenIdProvider, ProtectedFastMcp};
pub use script::{ArgumentShape, MOST_MIB, Name, Place, RequestedScript, SCRIPTS, Script, ScriptArgument};
pub use scripted::{HttpServer, ScriptedStdio};
pub use socks::{SocksBehavior, SocksProxy, SocksRequest};
pub use terminal::{Key, TerminalSession};
pub use tls_site::TlsSite;
pub use tmux::TmuxSession;
pub use token_issuer::{TokenIssuer, TokenKey};
pub use trace_collector::{CollectedSpan, TraceCollector};
pub use trace_recorder::TraceRecorder;
