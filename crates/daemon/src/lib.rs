//! The daemon: local servers that run once for all mcparley clients of a user.
//!
//! A client keeps its configuration, permissions and user; the daemon only runs the processes of servers. It
//! starts a server exactly as the client would have, and shares it with the clients from which the server
//! would see the same. So a client cannot be affected by the permissions of another, and goes on by itself
//! when the daemon ends.
//!
//! | part, in the order of the data | module |
//! |---|---|
//! | the socket, the locks and the log of the daemon | [`DaemonPaths`], [`DaemonLog`] |
//! | accepts clients, ends when it is idle or told to | [`Daemon`] |
//! | the first line of a client | `connection` |
//! | **the running servers, each with the clients that may share it** | `copy_table`, the place to start reading |
//! | one running server: its process, its clients, its end | `server_copy` |
//! | the facts about a client that decide which clients share a server with it | `share_facts` |
//! | MCP between one client and one server | `channel` |
//! | durable calls, which outlive their client: the journal, the running calls, one call | `task_journal`, `task_runner`, `task_call` |
//! | durable calls as the command line sees them | [`task_view`], [`TaskRequest`], [`TaskRecord`] |
//! | durable calls of the clients of a gateway | [`DaemonCalls`] |
//! | questions about the daemon, for the command line | [`control`], [`DaemonStatus`] |

mod channel;
mod connection;
pub mod control;
mod copy_table;
mod daemon;
mod daemon_log;
mod gateway_calls;
mod paths;
mod server_copy;
mod share_facts;
mod shared_state;
mod status;
mod task_call;
mod task_journal;
mod task_record;
mod task_runner;
pub mod task_view;

pub use daemon::{Daemon, DaemonError};
pub use daemon_log::{DAEMON_LOG_BYTES, DaemonLog};
pub use gateway_calls::DaemonCalls;
pub use paths::DaemonPaths;
pub use status::{CopyStatus, DaemonStatus};
pub use task_record::{StoredTask, TaskList, TaskRecord, TaskRequest, TaskState};
