//! Passes notifications between a client and a server that the gateway has no use for: about tasks to the client that
//! created them, and of extensions in both directions where the gateway is transparent.

use mcparley::pool::notice_channel::ServerNotice;
use mcparley_wire::{Notice, RawJson};
use tokio::sync::broadcast::error::RecvError;

use crate::request::extension::{has_extension, is_protocol_method};
use crate::session::GatewaySession;
use crate::session::client_tasks::{TaskAddress, TaskFlavor};

/// The notification about a task of 2025-11-25.
const TASK_STATUS: &str = "notifications/tasks/status";

impl GatewaySession {
    /// Forwards notifications of servers. Never returns.
    pub(crate) async fn forward_notices(&self) {
        let above = self.shared.gateway.log_host.as_ref();
        let mut notices = above.unwrap_or(self.host()).server_notices();
        loop {
            match notices.recv().await {
                Ok(notice) => self.forward_notice(&notice),
                // A notification may be lost in any case.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }

    fn forward_notice(&self, notice: &ServerNotice) {
        let status = if &*notice.method == TASK_STATUS { self.rename_task_status(notice) } else { None };
        let params = match status {
            Some(status) => Some(status),
            None if self.receives_extension(notice) => notice.params.clone(),
            None => return,
        };
        if let Some(channel) = self.channel() {
            // A notification that the client does not read is dropped.
            let _delivery = channel.notify(&notice.method, params.as_ref());
        }
    }

    /// The status of a task under the client's id; `None` if the client has not created the task, or its revision
    /// has no such notification.
    fn rename_task_status(&self, ServerNotice { server, params, .. }: &ServerNotice) -> Option<RawJson> {
        let knows_tasks = self.lock_handshake().is_some_and(|caller| caller.has_old_tasks());
        let params = params.as_ref().filter(|_| knows_tasks)?;
        let id = params.member("taskId")?.decode().ok()?;
        let task = TaskAddress { server: server.clone(), flavor: TaskFlavor::Old, id };
        let is_ours = self.shared.tasks.contains(&task);
        is_ours.then(|| RawJson::from_text(&self.rename_tasks(server, TaskFlavor::Old, params.as_str())))
    }

    /// Whether the client gets a notification of an extension: it belongs to the client's own call, or there is no
    /// other client.
    fn receives_extension(&self, ServerNotice { server, principal, method, .. }: &ServerNotice) -> bool {
        let gateway = &self.shared.gateway;
        let is_ours = match principal {
            Some(principal) => *principal == self.principal().id,
            None => gateway.has_one_client(),
        };
        is_ours && gateway.mode.one.as_ref() == Some(server) && !is_protocol_method(method)
    }

    /// Relays a notification of an extension to the only server, if the server declares any extension.
    pub(crate) fn relay_extension_notice(&self, Notice { method, params, .. }: &Notice) {
        let view = self.shared.gateway.view();
        let server = view.servers.first().filter(|_| view.mode.is_transparent());
        let Some((server, about)) = server.and_then(|server| Some((server, server.about.as_ref()?))) else {
            return;
        };
        // Some servers exit on a method that they do not know.
        if has_extension(&about.capabilities) && !is_protocol_method(method) {
            self.host().relay_notice(&server.name, method, params.as_ref());
        }
    }
}
