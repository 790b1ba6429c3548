//! Tells clients of 2025-11-25 that a page they were asked to visit is finished.

use mcparley::elicit::FinishedVisit;
use mcparley::model::name::ServerName;
use mcparley_wire::{RpcError, URL_REQUIRED};
use tokio::sync::broadcast::error::RecvError;

use crate::session::GatewaySession;

const COMPLETE: &str = "notifications/elicitation/complete";

impl GatewaySession {
    /// Forwards finished visits to a client of the old era. Never returns.
    pub(crate) async fn forward_visits(&self) {
        let above = self.shared.gateway.log_host.as_ref();
        let mut visits = above.unwrap_or(self.host()).finished_visits();
        loop {
            match visits.recv().await {
                Ok(visit) => self.forward_visit(&visit),
                // The client finds out by repeating its call.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }

    fn forward_visit(&self, FinishedVisit { server, params }: &FinishedVisit) {
        let id = params.member("elicitationId").and_then(|id| id.decode::<String>().ok());
        let is_ours = id.is_some_and(|id| self.shared.pages.contains(server, &id));
        if let (true, Some(channel)) = (is_ours, self.channel()) {
            let _delivery = channel.notify(COMPLETE, Some(params));
        }
    }

    /// Remembers the pages that an error of a server requires.
    pub(crate) fn remember_pages(&self, server: &ServerName, error: &RpcError) {
        let data = error.data.as_ref().filter(|_| error.code == URL_REQUIRED);
        let pages = data.and_then(|data| data.member_elements("elicitations")).unwrap_or_default();
        for page in pages {
            if let Some(id) = page.member("elicitationId").and_then(|id| id.decode::<String>().ok()) {
                self.shared.pages.remember_page(server, &id);
            }
        }
    }
}
