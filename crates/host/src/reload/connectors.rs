//! Fetches the organization's connectors in the background of a running host.

use std::sync::Weak;
use std::time::Duration;

use mcparley_model::limits::{CATALOG_TIME, RECONNECT_ATTEMPTS, RECONNECT_FIRST};

use crate::host::{Host, HostInner};
use mcparley_config::ConnectorList;
use mcparley_pool::connect::ConnectContext;
use mcparley_pool::organization::Organization;

/// Fetches the connectors, with a few retries and exponential backoff. A failure is reported among the
/// problems of the plan.
pub(crate) async fn fetch_connectors(
    host: Weak<HostInner>,
    organization: Organization,
    context: ConnectContext,
) {
    let mut pause: Duration = RECONNECT_FIRST;
    for _ in 0..=RECONNECT_ATTEMPTS {
        let answer = organization.fetch_connectors(context.dialer.network(), CATALOG_TIME).await;
        let is_there = answer.is_ok();
        let known = answer.unwrap_or_else(|error| ConnectorList::from_error(&error));
        let Some(host) = host.upgrade().map(Host::from_inner) else { return };
        host.set_connectors(known).await;
        if is_there {
            return;
        }
        drop(host);
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
}
