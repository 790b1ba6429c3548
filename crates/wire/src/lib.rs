//! How messages travel: framing, the JSON-RPC peer, transports, and the handshake of both eras.
//!
//! The room is laid but empty: connections are the next capability. It will know nothing of scopes,
//! permissions or people; `Failure` will be the only error that leaves it.
