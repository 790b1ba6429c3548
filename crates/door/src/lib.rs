//! The gateway's HTTP server: Streamable HTTP of both eras, HTTP+SSE of 2024-11-05, over TCP and Unix sockets.
//!
//! A request goes from `listener` to `http`, through the checks of `guard`, to one of the endpoints. Its answer comes
//! from a [`mcparley_gateway::GatewaySession`]; this crate knows the form of HTTP only.
//!
//! | module | content |
//! |---|---|
//! | [`Doors`] | all doors of a gateway, from their opening to their end |
//! | `listener` | accepts connections, bounded |
//! | `guard` | checks host, origin, token and load of a request; tokens of an issuer by [`AccessPolicy`] |
//! | `http`, `request_body` | routes a request by its path, after the checks of `guard` |
//! | `endpoint` | the main endpoint and the views, with the principals that may use them |
//! | `mcp` | the endpoint `/mcp`: messages of both eras |
//! | `legacy_sse`, `legacy_sessions` | the endpoints `/sse` and `/messages` |
//! | `header_check` | headers of the new era against the body |
//! | `exchange` | the answer to one request, as JSON or as an event stream |
//! | `event_stream`, `body`, `reply` | event streams, their readers, and other responses |
//! | `http_session`, `session_table`, `session_index`, `question` | sessions of the old era, and requests to their clients |
//! | `callback` | the redirect address of sign-ins to servers |
//! | `cluster_service`, `remote_stream` | requests and streams of other gateways of a cluster |
//! | `metrics` | counters for Prometheus |
//! | `shared` | the state that all requests share |
//! | `tasks` | connections and answers, which end with the doors |
//! | `page_endpoint`, [`PageHandler`] | a web page beside the endpoints for MCP, which another crate provides |

mod body;
mod callback;
mod cluster_service;
mod doors;
mod endpoint;
mod event_stream;
mod exchange;
mod guard;
mod header_check;
mod http;
mod http_session;
mod legacy_sessions;
mod legacy_sse;
mod listener;
mod mcp;
mod metrics;
mod page;
mod page_endpoint;
mod question;
mod remote_stream;
mod reply;
mod request_body;
mod session_index;
mod session_table;
mod shared;
mod tasks;

pub use doors::{DoorOptions, Doors};
pub use listener::{DoorError, DoorListener};
pub use mcparley_identity::{AccessPolicy, IssuerError, IssuerSettings};
pub use mcparley_identity::{GeneratedToken, OneTimeToken, TokenFile, TokenFileError, TokenPolicy};
pub use page::{PAGE_PATH, PageBody, PageHandler, PageRequest, SESSION_PATH};
