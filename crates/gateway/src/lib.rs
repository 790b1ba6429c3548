//! The gateway: serves the host to other programs as one MCP server, for clients of both eras.
//!
//! All decisions are made by `mcparley`; this crate translates them into the form of a client's era. A
//! [`GatewaySession`] is one client on any transport; [`serve`] is the transport on two byte streams, and the
//! crate `mcparley-door` the one over HTTP. From the bytes down to the state:
//!
//! | module | content |
//! |---|---|
//! | [`GatewayView`] | some of the servers for some of the clients, at an endpoint of its own |
//! | [`Seal`] | sealed values, such as session ids |
//! | [`serve`] | a client on two byte streams, from its first message to its last |
//! | [`ClientSessions`] | the sessions of one client, by the capabilities that its requests declare |
//! | `request` | dispatches the requests of a client: calls, lists, subscriptions, log level, roots |
//! | [`GatewaySession`] | the state of one client: its tool list, parked calls, log level and roots |
//! | [`Gateway`] | the host, the budget and the roots that all clients share |
//! | [`GatewayMode`] | the names that clients see, and the transparent mode |
//! | `view` | a snapshot of everything that clients see, with its names, addresses and rendered lists |
//! | `json_edit` | edits of JSON text that leave every other byte as it is |
//! | `response` | results in the form of an era: handshake, tools, results of calls |
//! | `client_asker`, `question`, `question_route` | asking the user of a client |
//! | `pending` | the open questions, answered by the client or from another terminal |
//! | [`cluster_link`] | requests that another gateway of the cluster owns, and values that all know |
//! | [`control`] | the control socket: open questions and reconnects for other processes of the user |
//! | [`DurableCalls`] | calls that another process makes and keeps, as tasks of clients that may leave |
//! | `call_line`, `elicitation_form` | relaying the requests of servers to the client of a call |
//! | `client_abilities` | the era of a request, and the capabilities of its client |

mod call_line;
mod client_abilities;
mod client_asker;
mod client_sessions;
pub mod cluster_link;
pub mod control;
mod durable_calls;
mod elicitation_form;
mod gateway;
mod json_edit;
mod mode;
mod pending;
mod question;
mod question_route;
mod request;
mod response;
mod sampling_form;
mod serve;
mod session;
mod view;

pub use client_abilities::{offer_from_capabilities, supported_versions};
pub use client_sessions::ClientSessions;
pub use cluster_link::ClusterOptions;
pub use durable_calls::{DurableCallError, DurableCalls, DurableState, DurableTask};
pub use gateway::Gateway;
pub use gateway::configured_views::GatewayView;
pub use mcparley_cluster::{Seal, SealKeyError};
pub use mode::{GatewayMode, Naming};
pub use pending::{AnswerError, ListedCall, PendingQuestion, QuestionDetails, QuestionKind, TerminalAnswer};
pub use request::outcome_slot::OutcomeSlot;
pub use request::request_span::{RequestedTool, TraceHeaders};
pub use serve::{client_handler, serve};
pub use session::{GatewaySession, HttpIdentity, STATE_MISUSE};
