//! Asks for the organisation's connectors while the host is running already (C1).

use std::sync::Weak;
use std::time::Duration;

use mcparley_model::limits::{CATALOGUE_TIME, RECONNECT_ATTEMPTS, RECONNECT_FIRST};

use crate::connect::Surroundings;
use crate::host::{Host, HostInner};
use crate::organisation::Organisation;
use crate::sources::Known;

/// Asks until there is an answer, a few times, ever more seldom. Why there is none is told in the plan's problems.
pub(crate) async fn ask_for_connectors(
    host: Weak<HostInner>,
    organisation: Organisation,
    surroundings: Surroundings,
) {
    let mut pause: Duration = RECONNECT_FIRST;
    for _ in 0..=RECONNECT_ATTEMPTS {
        let answer = organisation.fetch(&surroundings, CATALOGUE_TIME).await;
        let is_there = answer.is_ok();
        let known = answer.unwrap_or_else(|error| Known { connectors: Vec::new(), left_out: vec![error] });
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
