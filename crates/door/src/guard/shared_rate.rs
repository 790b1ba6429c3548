//! Shares the request counts of principals between gateways, so that a rate limit holds for all of them together.
//!
//! Each gateway has token buckets of its own, from which it also takes the requests that the others have admitted. The counts are
//! exchanged at an interval; no request waits for that.

use std::collections::HashMap;
use std::sync::Arc;

use mcparley_model::limits::{CLUSTER_RATE_INTERVAL, CLUSTER_RATE_TIME};

use crate::guard::load::LoadLimits;
use mcparley_cluster::seconds_since_epoch;
use mcparley_gateway::cluster_link::ClusterLink;

/// The maximum number of principals in one exchange; the others are in the next one.
const EXCHANGED_PRINCIPALS: usize = 256;

/// The counts of one principal in one second.
#[derive(Clone, Copy, Debug, Default)]
struct SecondCount {
    second: u64,
    ours: u64,
    others: u64,
}

/// Exchanges request counts of the whole gateway, or those of a view with a rate of its own. Returns at once if no rate is limited, and never otherwise.
pub(crate) async fn share_rates(load: Arc<LoadLimits>, view: Option<Box<str>>, link: Arc<ClusterLink>) {
    let Some(rate) = load.rate() else { return };
    let mut counts = HashMap::<Arc<str>, SecondCount>::new();
    loop {
        tokio::time::sleep(CLUSTER_RATE_INTERVAL).await;
        let second = seconds_since_epoch();
        counts.retain(|_, count| count.second + 1 >= second);
        for (principal, bucket, spent) in load.take_spent(EXCHANGED_PRINCIPALS) {
            let count = counts.entry(Arc::clone(&principal)).or_default();
            if count.second != second {
                *count = SecondCount { second, ..SecondCount::default() };
            }
            let key = match &view {
                Some(view) => link.member.keys().rate_counter(&format!("view:{view}:{principal}"), second),
                None => link.member.keys().rate_counter(&principal, second),
            };
            let total = link.member.store().add_to_counter(key, spent, Some(CLUSTER_RATE_TIME)).await;
            // Without the store each gateway limits for itself.
            let Ok(total) = total else { break };
            count.ours += spent;
            let others = total.saturating_sub(count.ours);
            bucket.spend_elsewhere(others.saturating_sub(count.others), rate);
            count.others = others;
        }
    }
}
