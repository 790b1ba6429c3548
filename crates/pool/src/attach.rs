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
//! | the client's side: finding, starting and asking the daemon | [`DaemonLink`] |

mod link;
pub mod protocol;

pub use link::{AttachedServer, DaemonLink, DaemonStarter};
