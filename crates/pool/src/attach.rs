//! Attaching to servers that the daemon runs, in place of starting them.
//!
//! A client with a [`DaemonLink`] asks the daemon for each local server. The daemon starts the server or shares a
//! running one, and the stream to the daemon becomes the stream to the server. Without an answer in time, or
//! with a daemon of another protocol version, the client starts the server itself: nothing depends on the
//! daemon.
//!
//! | part | module |
//! |---|---|
//! | the lines that both sides exchange first | [`protocol`] |
//! | finding its socket, also that of another login session | [`DaemonSocket`] |
//! | the client's side: starting and asking the daemon | [`DaemonLink`] |
//! | when it may be started or asked again | `health` |

mod health;
mod link;
pub mod protocol;
mod socket;

pub use link::{AttachedServer, DaemonLink, DaemonStarter};
pub use socket::{DaemonSocket, DaemonSocketError};
