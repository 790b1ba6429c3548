//! Shares the request counts of principals between gateways, so that a rate limit holds for all of them together.
//!
//! Each gateway has token buckets of its own, from which it also takes the requests that the others have admitted. The counts are
//! exchanged at an interval; no request waits for that.

use std::collections::HashMap;
use std::sync::Arc;

use mcparley_model::limits::{CLUSTER_RATE_INTERVAL, CLUSTER_RATE_TIME};

use crate::guard::load::{LoadLimits, PrincipalLoad};
use mcparley_cluster::seconds_since_epoch;
use mcparley_gateway::cluster_link::ClusterLink;

/// The maximum number of principals in one round trip; the others follow in the next ones.
const EXCHANGED_PRINCIPALS: usize = 256;

/// The counts of one principal in one second.
#[derive(Clone, Copy, Debug, Default)]
struct SecondCount {
    second: u64,
    ours: u64,
    others: u64,
}

/// The requests of one principal since the last exchange.
type SpentRequests = (Arc<str>, Arc<PrincipalLoad>, u64);

/// The exchange of the counts of a whole gateway, or of a view with a rate of its own.
struct RateExchange {
    rate: u32,
    view: Option<Box<str>>,
    link: Arc<ClusterLink>,
    counts: HashMap<Arc<str>, SecondCount>,
}

/// Exchanges request counts of the whole gateway, or those of a view with a rate of its own. Returns at once if no rate is limited, and never otherwise.
pub(crate) async fn share_rates(load: Arc<LoadLimits>, view: Option<Box<str>>, link: Arc<ClusterLink>) {
    let Some(rate) = load.rate() else { return };
    let mut exchange = RateExchange { rate, view, link, counts: HashMap::new() };
    loop {
        tokio::time::sleep(CLUSTER_RATE_INTERVAL).await;
        let second = seconds_since_epoch();
        exchange.counts.retain(|_, count| count.second + 1 >= second);
        for part in load.take_spent().chunks(EXCHANGED_PRINCIPALS) {
            exchange.exchange_counts(part, second).await;
        }
    }
}

impl RateExchange {
    /// Exchanges the counts of some principals in one round trip. Without the store each gateway limits for itself.
    async fn exchange_counts(&mut self, spent: &[SpentRequests], second: u64) {
        let counters = spent
            .iter()
            .filter_map(|(principal, _, spent)| Some((self.counter_key(principal, second)?, *spent)));
        let counters: Vec<_> = counters.collect();
        let totals = match counters.len() == spent.len() {
            true => self.link.member.store().add_to_counters(counters, Some(CLUSTER_RATE_TIME)).await.ok(),
            false => None,
        };
        let Some(totals) = totals else {
            spent.iter().for_each(|(_, load, spent)| load.return_spent(*spent, self.rate));
            return;
        };
        for ((principal, load, spent), total) in spent.iter().zip(totals) {
            let count = self.counts.entry(Arc::clone(principal)).or_default();
            if count.second != second {
                *count = SecondCount { second, ..SecondCount::default() };
            }
            count.ours += spent;
            let others = total.saturating_sub(count.ours);
            load.spend_elsewhere(others.saturating_sub(count.others), self.rate);
            count.others = others;
        }
    }

    /// The counter of a principal. The store does not learn its name.
    fn counter_key(&self, principal: &str, second: u64) -> Option<String> {
        let name = match &self.view {
            Some(view) => format!("view:{view}:{principal}"),
            None => principal.to_owned(),
        };
        let digest = self.link.digest_name("rate", &name)?;
        Some(self.link.member.keys().rate_counter(&digest, second))
    }
}

#[cfg(test)]
mod tests;
