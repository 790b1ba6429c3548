//! The exchange of counts of two gateways.

use mcparley_cluster::{ClusterMember, InProcessStore, KeyNames, Seal, SharedStore};

use super::*;
use mcparley_gateway::cluster_link::ClusterOptions;

const RATE: u32 = 10;

struct ExchangingGateway {
    load: Arc<LoadLimits>,
    exchange: RateExchange,
}

async fn join(store: &Arc<InProcessStore>, seal: &Arc<Seal>) -> ExchangingGateway {
    let shared: Arc<dyn SharedStore> = Arc::<InProcessStore>::clone(store);
    let (member, mailbox) = ClusterMember::join(shared, KeyNames::new("test"), "here").await.unwrap();
    let link = ClusterLink::new(ClusterOptions { member, mailbox, is_required: false }, Arc::clone(seal));
    let exchange = RateExchange { rate: RATE, view: None, link, counts: HashMap::new() };
    ExchangingGateway { load: LoadLimits::new(Some(RATE)), exchange }
}

impl ExchangingGateway {
    /// Admits one request of each principal, and returns how many were admitted.
    fn admit_all(&self, principals: &[Arc<str>]) -> usize {
        principals.iter().filter(|principal| self.load.admit(principal).is_ok()).count()
    }

    async fn exchange_all(&mut self) {
        for part in self.load.take_spent().chunks(EXCHANGED_PRINCIPALS) {
            self.exchange.exchange_counts(part, 1).await;
        }
    }
}

// G9 G4
#[tokio::test(start_paused = true)]
async fn counts_of_all_principals_are_exchanged_however_many_there_are() {
    let (store, seal) = (Arc::<InProcessStore>::default(), Arc::new(Seal::in_memory().unwrap()));
    let (mut one, mut two) = (join(&store, &seal).await, join(&store, &seal).await);
    let principals: Vec<Arc<str>> =
        (0..3 * EXCHANGED_PRINCIPALS).map(|number| Arc::from(format!("token:user-{number}"))).collect();
    for _ in 0..RATE {
        assert_eq!(one.admit_all(&principals), principals.len());
    }
    one.exchange_all().await;
    // The first request of each opens its bucket here; all others were used up at the other gateway.
    assert_eq!(two.admit_all(&principals), principals.len());
    two.exchange_all().await;
    assert_eq!(two.admit_all(&principals), 0);
    assert!(store.list_keys().iter().all(|key| !key.contains("user-")), "a key names a principal");
}

// G9 G4
#[tokio::test(start_paused = true)]
async fn counts_that_were_not_exchanged_are_counted_when_the_store_is_back() {
    let (store, seal) = (Arc::<InProcessStore>::default(), Arc::new(Seal::in_memory().unwrap()));
    let (mut one, mut two) = (join(&store, &seal).await, join(&store, &seal).await);
    let principals = [Arc::from("token:a"), Arc::from("token:b")];
    for _ in 0..RATE {
        assert_eq!(one.admit_all(&principals), 2);
    }
    store.set_available(false);
    one.exchange_all().await;
    store.set_available(true);
    one.exchange_all().await;
    assert_eq!(two.admit_all(&principals), 2);
    two.exchange_all().await;
    assert_eq!(two.admit_all(&principals), 0);
}
