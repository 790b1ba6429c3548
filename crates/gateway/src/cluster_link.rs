//! The link of a gateway to the others of its cluster: requests that another gateway owns, and news for all.
//!
//! A request belongs to another gateway if that one holds the call or task that it names. It is handed over whole,
//! through the mailbox of its owner; the owner sends back the messages of its stream and its answer. Incoming
//! messages are handled by the crate of the doors.

pub mod forwarding;
pub mod messages;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mcparley_cluster::{ClusterMember, InstanceId, Mailbox, SharedStoreError};
use mcparley_model::limits::{CLUSTER_FORWARDS, CLUSTER_VALUE_BYTES};
use mcparley_platform::random::random_number;
use mcparley_wire::{INTERNAL, RawJson, RpcError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use crate::cluster_link::messages::{ClusterMessage, ClusterNews, OwnerReply};
use mcparley_cluster::Seal;

/// The binding of messages between gateways.
const MESSAGE_BINDING: [&str; 1] = ["cluster message"];
/// The first part of the binding of a value of a session.
const VALUE_BINDING: &str = "session value";
/// The binding of the gateway in the `state` of a sign-in.
const SIGN_IN_BINDING: &str = "sign-in";
/// The reason in the data of an error that means: come back soon.
const UNREACHABLE: &str = "cluster_unreachable";

/// The membership of a gateway in a cluster.
#[derive(Debug)]
pub struct ClusterOptions {
    /// The gateway as a member.
    pub member: ClusterMember,
    /// The messages to the gateway.
    pub mailbox: Mailbox,
    /// Whether the gateway is not ready while the shared state is away.
    pub is_required: bool,
}

/// The link of one gateway.
#[derive(Debug)]
pub struct ClusterLink {
    /// The gateway as a member of the cluster.
    pub member: ClusterMember,
    /// Whether the gateway is not ready while the shared state is away.
    pub is_required: bool,
    mailbox: Mutex<Option<Mailbox>>,
    seal: OnceLock<Arc<Seal>>,
    /// The requests that wait for other gateways, by their numbers.
    waiting: Mutex<HashMap<u64, mpsc::Sender<OwnerReply>>>,
}

/// A request in the table of waiting ones, until it is dropped.
#[derive(Debug)]
pub(crate) struct WaitingRequest {
    link: Arc<ClusterLink>,
    pub(crate) number: u64,
    pub(crate) replies: mpsc::Receiver<OwnerReply>,
}

/// The number of replies that may wait for the request that reads them.
const REPLIES_MOST: usize = 1024;

impl ClusterLink {
    /// The link of a gateway with this membership.
    #[must_use]
    pub fn new(options: ClusterOptions, seal: Arc<Seal>) -> Arc<Self> {
        let ClusterOptions { member, mailbox, is_required } = options;
        let mailbox = Mutex::new(Some(mailbox));
        let waiting = Mutex::default();
        Arc::new(Self { member, is_required, mailbox, seal: OnceLock::from(seal), waiting })
    }

    /// The mailbox, for the task that handles its messages.
    #[must_use]
    pub fn take_mailbox(&self) -> Option<Mailbox> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The gateway itself.
    #[must_use]
    pub fn instance(&self) -> InstanceId {
        self.member.instance()
    }

    /// Sends a message to another gateway.
    ///
    /// # Errors
    /// When the shared state is away.
    pub async fn send_message(
        &self,
        to: InstanceId,
        message: &ClusterMessage,
    ) -> Result<(), SharedStoreError> {
        self.member.send_message(to, self.seal_message(message)?).await
    }

    /// Sends a message to another gateway as soon as the shared state can be reached.
    pub fn send_later(&self, to: InstanceId, message: &ClusterMessage) {
        if let Ok(sealed) = self.seal_message(message) {
            self.member.send_message_later(to, sealed);
        }
    }

    /// Sends news to all gateways as soon as the shared state can be reached.
    pub fn announce_news(&self, news: &ClusterNews) {
        if let Ok(sealed) = self.seal_message(news) {
            self.member.announce_later(sealed);
        }
    }

    /// Opens a message; `None` if no gateway of this cluster has sent it.
    #[must_use]
    pub fn open_message<T: DeserializeOwned>(&self, sealed: &[u8]) -> Option<T> {
        let text = std::str::from_utf8(sealed).ok()?;
        serde_json::from_slice(&self.seal.get()?.open_value(&MESSAGE_BINDING, text)?).ok()
    }

    /// Seals a message: the store keeps arguments and results of calls, and write access to it must not be
    /// enough to send requests for other principals.
    fn seal_message(&self, message: &impl Serialize) -> Result<Vec<u8>, SharedStoreError> {
        let refused = |reason: &str| SharedStoreError::refuse_command(reason);
        let text = serde_json::to_vec(message).map_err(|_| refused("the message cannot be written"))?;
        let seal = self.seal.get().ok_or_else(|| refused("there is no seal"))?;
        let sealed = seal.seal_value(&MESSAGE_BINDING, &text);
        sealed.map(String::into_bytes).ok_or_else(|| refused("the system gives no random numbers"))
    }

    /// Seals a value of a session for its field. It can be opened as long as the session lives.
    pub(crate) fn seal_field(&self, session: &str, field: &str, value: &impl Serialize) -> Option<Vec<u8>> {
        let text = serde_json::to_vec(value).ok()?;
        if text.len() > CLUSTER_VALUE_BYTES {
            tracing::warn!(field, size = text.len(), "a value of a session is too large to be shared");
            return None;
        }
        let sealed = self.seal.get()?.seal_id(&[VALUE_BINDING, session, field], &text)?;
        Some(sealed.into_bytes())
    }

    /// Opens the value of a field of a session.
    pub(crate) fn open_field<T: DeserializeOwned>(
        &self,
        session: &str,
        field: &str,
        sealed: &[u8],
    ) -> Option<T> {
        let sealed = std::str::from_utf8(sealed).ok()?;
        serde_json::from_slice(&self.seal.get()?.open_id(&[VALUE_BINDING, session, field], sealed)?).ok()
    }

    /// A name in the shared state that stands for a text, such as the name of a principal.
    #[must_use]
    pub fn digest_name(&self, purpose: &str, text: &str) -> Option<String> {
        self.seal.get()?.digest_name(purpose, text)
    }

    /// The name of this gateway in the `state` of sign-ins, which no other party can write.
    #[must_use]
    pub fn seal_sign_in(&self) -> Option<String> {
        self.seal.get()?.seal_id(&[SIGN_IN_BINDING], &self.instance().0.to_be_bytes())
    }

    /// The gateway that a `state` of a sign-in begins with.
    #[must_use]
    pub fn open_sign_in(&self, sealed: &str) -> Option<InstanceId> {
        let number = self.seal.get()?.open_id(&[SIGN_IN_BINDING], sealed)?;
        Some(InstanceId(u32::from_be_bytes(number.try_into().ok()?)))
    }

    /// Seals an entry of the log of a broken connection.
    #[must_use]
    pub fn seal_entry(&self, entry: &impl Serialize) -> Option<Vec<u8>> {
        self.seal_message(entry).ok()
    }

    /// Adds a request that waits for another gateway.
    ///
    /// # Errors
    /// When there are too many.
    pub(crate) fn add_waiting(self: &Arc<Self>) -> Result<WaitingRequest, RpcError> {
        let (number, (sender, replies)) = (random_number(), mpsc::channel(REPLIES_MOST));
        let mut waiting = self.lock_waiting();
        if waiting.len() >= CLUSTER_FORWARDS {
            return Err(unreachable_error());
        }
        waiting.insert(number, sender);
        Ok(WaitingRequest { link: Arc::clone(self), number, replies })
    }

    /// Passes a reply to the request that waits for it. A reply that comes after its request has ended is dropped.
    /// A request that does not read ends: the messages to other requests must not wait for it.
    pub fn deliver_reply(&self, number: u64, reply: OwnerReply) {
        let mut waiting = self.lock_waiting();
        if waiting.get(&number).is_some_and(|sender| sender.try_send(reply).is_err()) {
            waiting.remove(&number);
        }
    }

    fn lock_waiting(&self) -> MutexGuard<'_, HashMap<u64, mpsc::Sender<OwnerReply>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WaitingRequest {
    fn drop(&mut self) {
        self.link.lock_waiting().remove(&self.number);
    }
}

/// The error of a request for another gateway while the shared state is away: the client may come back soon.
#[must_use]
pub fn unreachable_error() -> RpcError {
    let error = RpcError::new(
        INTERNAL,
        "another gateway owns this request and cannot be reached now; try again in a second",
    );
    error.with_data(RawJson::from_text(&format!(r#"{{"reason":"{UNREACHABLE}"}}"#)))
}

/// Whether an error is [`unreachable_error`].
#[must_use]
pub fn is_unreachable_error(error: &RpcError) -> bool {
    let reason = error.data.as_ref().and_then(|data| data.member("reason")?.decode::<String>().ok());
    reason.as_deref() == Some(UNREACHABLE)
}
