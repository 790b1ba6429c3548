//! The host served to other programs as one MCP server, for clients of both eras (G1).
//!
//! Everything is decided by `mcparley`; here it is only put into the words of a client's era. A [`Session`] is one client,
//! whatever carries its messages; [`serve`] is the one on two byte streams.
//!
//! | what | where |
//! |---|---|
//! | what all clients share | [`Gateway`] |
//! | a client on two byte streams, from its first message to its last | [`serve`] |
//! | one client: which request goes where | [`Session`] |
//! | which era a request is of, and what its client can do | `caller` |
//! | requests that two readers could understand differently | `strict` |
//! | greeting a client, and what it is told | `greeting`, `instructions` |
//! | the tools a client is shown, page by page | `listing`, `item`, `tool` |
//! | telling a client that they have changed | `changes` |
//! | passing on what servers log | `logging` |
//! | one call, its progress and its questions | `call`, `answer` |
//! | what a call gave, in the words of an era | `result` |
//! | the folders a client works in | `roots` |
//! | asking the person behind a client | `asker`, `question` |
//! | calls that wait until their client comes back with an answer | `parked` |

mod answer;
mod asker;
mod call;
mod caller;
mod changes;
mod gateway;
mod greeting;
mod instructions;
mod item;
mod listing;
mod logging;
mod parked;
mod question;
mod result;
mod roots;
mod serve;
mod session;
mod strict;
mod tool;

pub use gateway::Gateway;
pub use serve::serve;
pub use session::Session;
