//! Messages of the other side as a handler receives them: with the stream they came on, and requests with
//! their replies.

use super::replies::Replies;
use mcparley_json::RawJson;

/// A request of the other side.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// The JSON-RPC id, byte for byte.
    pub id: RawJson,
    /// The method.
    pub method: Box<str>,
    /// The parameters.
    pub params: Option<RawJson>,
    /// The stream on which the request came.
    pub cause: Cause,
    /// Sends notifications and requests to the other side for as long as the request is open.
    pub replies: Replies,
}

/// A notification of the other side.
#[derive(Clone, Debug)]
pub struct Notice {
    /// The method.
    pub method: Box<str>,
    /// The parameters.
    pub params: Option<RawJson>,
    /// The stream on which the notification came.
    pub cause: Cause,
}

/// The stream on which a message came, which shows whether it belongs to one of our requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The stream of one of our requests: of its POST, or the SSE stream that resumes it.
    Ours(RequestId),
    /// The channel that all requests of the connection share: stdio, WebSocket, HTTP+SSE, the GET stream,
    /// memory.
    Connection,
}

/// Identity of a request that we have sent, unique in the process, across all connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId {
    /// The number of the connection in this process.
    pub(super) connection: u64,
    /// The JSON-RPC id, which is unique on that connection only.
    pub(super) number: u64,
}
