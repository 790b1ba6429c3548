//! Log messages of a host's servers, the pages they report as visited, and their other notifications, as streams.

use mcparley_model::log_level::LogLevel;
use mcparley_model::name::ServerName;
use mcparley_pool::connection::Epoch;
use mcparley_pool::elicit::FinishedVisit;
use mcparley_pool::log::LogMessage;
use mcparley_pool::notice_channel::ServerNotice;
use mcparley_wire::{RawJson, Replies};
use tokio::sync::broadcast;

use crate::host::Host;

impl Host {
    /// Subscribes to the log messages of servers. A slow listener loses the oldest. An agent receives those
    /// of its own servers; messages of shared servers come from the host.
    #[must_use]
    pub fn log_messages(&self) -> broadcast::Receiver<LogMessage> {
        self.connect_context().services.messages.subscribe()
    }

    /// Subscribes to the pages that servers report as visited. A slow listener loses the oldest.
    #[must_use]
    pub fn finished_visits(&self) -> broadcast::Receiver<FinishedVisit> {
        self.connect_context().services.visits.subscribe()
    }

    /// Subscribes to notifications of servers about tasks and of extensions, which mean nothing to the host. A slow
    /// listener loses the oldest.
    #[must_use]
    pub fn server_notices(&self) -> broadcast::Receiver<ServerNotice> {
        self.connect_context().services.notices.subscribe()
    }

    /// Sends a notification of a client's extension to a server that is connected. It is dropped if the server does
    /// not read.
    pub fn relay_notice(&self, server: &ServerName, method: &str, params: Option<&RawJson>) {
        let live = self.connection(server).and_then(|connection| connection.try_lease(Epoch::default()));
        if let Some(live) = live {
            let _delivery = Replies::over_peer(live.session.peer()).notify(method, params);
        }
    }

    /// Sets the minimum level of the log messages that a server sends; of all servers without a name. It
    /// stays in force across reconnects. Servers without the logging capability are not affected.
    pub fn set_log_level(&self, server: Option<&ServerName>, level: LogLevel) {
        self.connect_context().services.messages.set_level(server, level);
    }

    /// Sets the level of the servers of the old era on behalf of the clients of a gateway, as
    /// [`Host::set_log_level`] does. Requests to servers of the new era carry the level of their client.
    pub fn set_client_log_level(&self, server: Option<&ServerName>, level: LogLevel) {
        self.connect_context().services.messages.set_client_level(server, level);
    }
}
