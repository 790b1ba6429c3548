//! The keys of the store, in one place.
//!
//! | key (behind the prefix) | type | content |
//! |---|---|---|
//! | `root` | value | the root key of the seal, unless a file gives it |
//! | `epoch` | counter | the number of the newest gateway |
//! | `gw:{instance}` | value | the heartbeat of a gateway: its random token |
//! | `gw:{instance}:name` | value | the name of a gateway, for messages after its end |
//! | `gw:{instance}:in` | log | the mailbox of a gateway |
//! | `news` | log | messages to all gateways |
//! | `s:{session}` | fields | changed values of a session, sealed |
//! | `dead:{session}` | value | the tombstone of a deleted session |
//! | `call:{id}:taken` | value | the claim of its answer, which is used once |
//! | `call:{id}:closed` | value | the claim of its end, after its owner is gone |
//! | `log:{session}:{stream}` | log | the events of a broken connection |
//! | `rate:{principal}:{second}` | counter | requests of one second |
//!
//! `{principal}` is a digest that needs the key of the seal, like `{session}`: no key holds the name of a client.

use crate::instance_id::InstanceId;

/// The keys of one cluster.
#[derive(Clone, Debug)]
pub struct KeyNames {
    prefix: String,
}

impl KeyNames {
    /// The keys of the cluster with this name. Clusters with different names share nothing.
    #[must_use]
    pub fn new(cluster: &str) -> Self {
        Self { prefix: format!("mp:{cluster}:") }
    }

    /// The root key of the seal.
    #[must_use]
    pub fn seal_root(&self) -> String {
        self.add_prefix("root")
    }

    /// The number of the newest gateway.
    #[must_use]
    pub fn epoch_counter(&self) -> String {
        self.add_prefix("epoch")
    }

    /// The heartbeat of a gateway.
    #[must_use]
    pub fn heartbeat_key(&self, instance: InstanceId) -> String {
        self.add_prefix(&format!("gw:{instance}"))
    }

    /// The name of a gateway.
    #[must_use]
    pub fn instance_name(&self, instance: InstanceId) -> String {
        self.add_prefix(&format!("gw:{instance}:name"))
    }

    /// The mailbox of a gateway.
    #[must_use]
    pub fn mailbox_log(&self, instance: InstanceId) -> String {
        self.add_prefix(&format!("gw:{instance}:in"))
    }

    /// The messages to all gateways.
    #[must_use]
    pub fn news_log(&self) -> String {
        self.add_prefix("news")
    }

    /// The changed values of a session.
    #[must_use]
    pub fn session_values(&self, session: &str) -> String {
        self.add_prefix(&format!("s:{session}"))
    }

    /// The tombstone of a deleted session.
    #[must_use]
    pub fn tombstone_key(&self, session: &str) -> String {
        self.add_prefix(&format!("dead:{session}"))
    }

    /// The claim of the answer to a parked call.
    #[must_use]
    pub fn answer_claim(&self, call: &str) -> String {
        self.add_prefix(&format!("call:{call}:taken"))
    }

    /// The claim of the end of a parked call.
    #[must_use]
    pub fn end_claim(&self, call: &str) -> String {
        self.add_prefix(&format!("call:{call}:closed"))
    }

    /// The events of a broken connection.
    #[must_use]
    pub fn event_log(&self, session: &str, stream: u64) -> String {
        self.add_prefix(&format!("log:{session}:{stream:016x}"))
    }

    /// The requests of a principal in one second, by the digest of its name.
    #[must_use]
    pub fn rate_counter(&self, principal: &str, second: u64) -> String {
        self.add_prefix(&format!("rate:{principal}:{second}"))
    }

    fn add_prefix(&self, rest: &str) -> String {
        format!("{}{rest}", self.prefix)
    }
}
