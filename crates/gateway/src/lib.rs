//! The gateway: serves the host to other programs as one MCP server, for clients of both eras.
//!
//! All decisions are made by `mcparley`; this crate translates them into the form of a client's era. A
//! [`GatewaySession`] is one client on any transport; [`serve`] is the transport on two byte streams. From
//! the bytes down to the state:
//!
//! | module | content |
//! |---|---|
//! | [`serve`] | a client on two byte streams, from its first message to its last |
//! | `request` | dispatches the requests of a client: calls, lists, subscriptions, log level, roots |
//! | [`GatewaySession`] | the state of one client: its tool list, parked calls, log level and roots |
//! | [`Gateway`] | the host, the budget and the roots that all clients share |
//! | `response` | results in the form of an era: handshake, tools, results of calls |
//! | `client_asker`, `question` | asking the user of a client |
//! | `client_abilities` | the era of a request, and the capabilities of its client |

mod client_abilities;
mod client_asker;
mod gateway;
mod question;
mod request;
mod response;
mod serve;
mod session;

pub use gateway::Gateway;
pub use serve::serve;
pub use session::GatewaySession;
