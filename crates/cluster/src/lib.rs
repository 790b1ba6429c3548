//! State that several gateways share: Redis keys, mailboxes, heartbeats.
//!
//! Gateways behind a load balancer are members of one cluster. A member writes nothing for a call that is
//! answered on its own connection; it uses the store for state that other gateways must find.
//!
//! | module | content |
//! |---|---|
//! | [`SharedStore`] | the store: values, claims and logs, each with its time to live |
//! | [`InProcessStore`] | a store within one process |
//! | [`RedisStore`] | a store in Redis, with reconnects (feature `redis`) |
//! | [`StoreAddress`] | the address of a Redis server, which is shown without credentials |
//! | [`ClusterMember`] | one gateway: its number, its heartbeat, messages to other gateways |
//! | [`Mailbox`] | the messages to one gateway, and the news for all |
//! | `key_names` | every key of the store, as the design page lists them |
//! | [`Seal`] | sealed values, such as session ids, that every gateway with the key opens |
//! | `write_queue` | background writes, kept while the store is away |

mod cluster_member;
mod instance_id;
mod key_names;
mod mailbox;
mod memory_store;
#[cfg(feature = "redis")]
mod redis_store;
mod seal;
mod store;
mod store_address;
mod write_queue;

pub use cluster_member::{ClusterMember, JoinError, MemberStatus};
pub use instance_id::InstanceId;
pub use key_names::KeyNames;
pub use mailbox::{Mailbox, MailboxMessage};
pub use memory_store::InProcessStore;
#[cfg(feature = "redis")]
pub use redis_store::RedisStore;
pub use seal::{Seal, SealKeyError, seconds_since_epoch};
pub use store::{LogEntry, LogPosition, SharedStore, SharedStoreError, StoreChange, StoreFuture};
pub use store_address::{StoreAddress, StoreAddressError};
