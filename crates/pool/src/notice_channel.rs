//! The channel for notifications of servers that the host has no use for, for gateways: their clients may.

use mcparley_model::name::ServerName;
use mcparley_wire::RawJson;
use tokio::sync::broadcast;

use crate::principal::PrincipalId;

/// The number of notifications buffered for a slow listener before the oldest are dropped.
const WAITING: usize = 64;

/// A notification of a server: about a task, or of an extension.
#[derive(Clone, Debug)]
pub struct ServerNotice {
    /// The server.
    pub server: ServerName,
    /// The principal of the call that it belongs to. `None` outside of calls, and while calls of several principals
    /// are in flight.
    pub principal: Option<PrincipalId>,
    /// The method.
    pub method: Box<str>,
    /// The parameters, as the server wrote them.
    pub params: Option<RawJson>,
}

/// The channel for such notifications of all servers of a host. Clones share it.
#[derive(Clone, Debug)]
pub struct NoticeChannel(broadcast::Sender<ServerNotice>);

impl Default for NoticeChannel {
    fn default() -> Self {
        Self(broadcast::channel(WAITING).0)
    }
}

impl NoticeChannel {
    /// Subscribes to notifications. A listener that falls behind misses the oldest.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<ServerNotice> {
        self.0.subscribe()
    }

    /// Sends a notification to the listeners; without any, it is not even made.
    pub(crate) fn send_notice(&self, notice: impl FnOnce() -> ServerNotice) {
        if self.0.receiver_count() > 0 {
            let _nobody = self.0.send(notice());
        }
    }
}
