//! The sessions of all clients over HTTP.
//!
//! The table is a cache: the id of a session of the old era is a sealed value that holds its handshake, so a
//! session that is not in the table is restored from its id, also after a restart. Clients of the new era
//! have no session; the requests of one principal share one for each set of capabilities that matters.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley::pool::principal::ClientIdentity;
use mcparley_cluster::StoreChange;
use mcparley_model::hex::Hex;
use mcparley_model::limits::{DOOR_PRINCIPAL_TIME, DOOR_SESSION_ID_BYTES, DOOR_SESSION_TIME, DOOR_SESSIONS};
use mcparley_wire::{ProtocolVersion, RawJson};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::event_stream::StreamKind;
use crate::http_session::HttpSession;
use crate::session_index::{DeletedSessions, SessionIndex};
use mcparley_cluster::{Seal, seconds_since_epoch};
use mcparley_gateway::ClientSessions;
use mcparley_gateway::Gateway;
use mcparley_gateway::cluster_link::messages::ClusterNews;
use mcparley_gateway::offer_from_capabilities;
use mcparley_gateway::{GatewaySession, HttpIdentity};

/// The capabilities that are kept in a session id; others do not change the gateway's behavior.
const KEPT_CAPABILITIES: [&str; 5] = ["elicitation", "sampling", "roots", "extensions", "tasks"];

/// The sessions of one gateway.
#[derive(Debug)]
pub(crate) struct SessionTable {
    gateway: Gateway,
    /// The path of the endpoint, which session ids are bound to.
    endpoint: Box<str>,
    seal: Arc<Seal>,
    sessions: Mutex<SessionIndex>,
    deleted: Mutex<DeletedSessions>,
    principals: Mutex<HashMap<Arc<str>, PrincipalSessions>>,
}

/// The sessions of all requests of one principal of the new era.
#[derive(Debug)]
struct PrincipalSessions {
    sessions: ClientSessions,
    used: u64,
}

/// The reason why a session is not found. A client cannot tell one from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionMiss {
    /// The session is unknown, or has ended.
    Unknown,
    /// The session belongs to another principal.
    OtherPrincipal,
    /// The id does not open for this principal.
    NotOpened,
}

/// The content of a session id.
#[derive(Debug, Serialize, Deserialize)]
struct SealedSession {
    #[serde(rename = "i")]
    random: String,
    #[serde(rename = "v")]
    revision: String,
    #[serde(rename = "c")]
    capabilities: Value,
    #[serde(rename = "n")]
    client: String,
    #[serde(rename = "t")]
    created: u64,
}

impl SessionTable {
    pub(crate) fn new(gateway: Gateway, endpoint: &str, seal: Arc<Seal>) -> Self {
        Self {
            gateway,
            endpoint: endpoint.into(),
            seal,
            sessions: Mutex::default(),
            deleted: Mutex::default(),
            principals: Mutex::default(),
        }
    }

    /// Opens the session of a client that sends `initialize`. `None` only without random numbers.
    pub(crate) fn open_session(
        &self,
        identity: &Arc<ClientIdentity>,
        params: Option<&RawJson>,
    ) -> Option<Arc<HttpSession>> {
        let params: Value = params.and_then(|params| params.decode().ok()).unwrap_or_default();
        let revision = params.get("protocolVersion").and_then(Value::as_str);
        let revision = revision.and_then(ProtocolVersion::parse_old).unwrap_or(ProtocolVersion::NEWEST_OLD);
        let mut random = [0; 16];
        getrandom::fill(&mut random).ok()?;
        let client = params.pointer("/clientInfo/name").and_then(Value::as_str).unwrap_or_default();
        let mut sealed = SealedSession {
            random: Hex(&random).to_string(),
            revision: revision.as_str().to_owned(),
            capabilities: kept_capabilities(params.get("capabilities")),
            client: client.chars().take(64).collect(),
            created: seconds_since_epoch(),
        };
        let principal = &identity.account;
        let mut id = self.seal_session(principal, &sealed)?;
        if id.len() > DOOR_SESSION_ID_BYTES {
            sealed.capabilities = Value::Object(Map::new());
            id = self.seal_session(principal, &sealed)?;
        }
        let session = self.gateway_for(params.get("capabilities")).open_session_for(identity);
        let new = self.add_session(&id, principal, revision, session);
        // No other gateway knows it yet.
        let _loaded = new.loaded.set(true).is_ok();
        Some(new)
    }

    /// The session with this id, if it belongs to the principal and was not deleted.
    pub(crate) fn find_session(
        &self,
        id: &str,
        identity: &Arc<ClientIdentity>,
    ) -> Result<Arc<HttpSession>, SessionMiss> {
        if let Some(session) = lock(&self.sessions).find_by_id(id).map(Arc::clone) {
            if session.principal != identity.account {
                return Err(SessionMiss::OtherPrincipal);
            }
            session.touch();
            return Ok(session);
        }
        if lock(&self.deleted).has_key(&session_key(id)) {
            return Err(SessionMiss::Unknown);
        }
        let miss = if Seal::is_in_use(id) { SessionMiss::NotOpened } else { SessionMiss::Unknown };
        let content =
            self.seal.open_value(&[&identity.account, &self.endpoint, "session"], id).ok_or(miss)?;
        self.restore_session((id, &content), identity).ok_or(SessionMiss::Unknown)
    }

    /// Restores a session from the content of its id.
    fn restore_session(
        &self,
        (id, content): (&str, &[u8]),
        identity: &Arc<ClientIdentity>,
    ) -> Option<Arc<HttpSession>> {
        let principal = &identity.account;
        let sealed: SealedSession = serde_json::from_slice(content).ok()?;
        if seconds_since_epoch().saturating_sub(sealed.created) > DOOR_SESSION_TIME.as_secs() {
            return None;
        }
        let revision = ProtocolVersion::parse_old(&sealed.revision)?;
        let session = self.gateway_for(Some(&sealed.capabilities)).open_session_for(identity);
        let params = json!({
            "protocolVersion": revision.as_str(),
            "capabilities": sealed.capabilities,
            "clientInfo": { "name": sealed.client, "version": "" },
        });
        HttpSession::replay_handshake(&session, RawJson::from_value(&params).ok()?);
        let restored = self.add_session(id, principal, revision, session);
        restored.session.ask_for_restored_roots();
        Some(restored)
    }

    /// Whether a session goes on, and was not deleted at another gateway. Loads its values when it is first used here;
    /// while the shared state is away, the session goes on without them.
    pub(crate) async fn is_loaded(&self, session: &HttpSession) -> bool {
        let loaded = session.loaded.get_or_try_init(|| session.session.load_values()).await;
        let goes_on = loaded.copied().unwrap_or(true);
        if !goes_on {
            lock(&self.deleted).add_key(session_key(&session.id));
            self.forget_session(session);
        }
        goes_on
    }

    /// Deletes a session; its id is refused from now on, also by the other gateways of a cluster.
    pub(crate) fn delete_session(&self, session: &HttpSession) {
        let key = session_key(&session.id);
        lock(&self.deleted).add_key(Arc::clone(&key));
        self.forget_session(session);
        if let Some(link) = self.gateway.cluster() {
            let keys = link.member.keys();
            let tombstone = StoreChange::Put {
                key: keys.tombstone_key(&key),
                value: b"1".to_vec(),
                ttl: Some(DOOR_SESSION_TIME),
            };
            link.member.write_later(tombstone);
            link.member.write_later(StoreChange::Remove { key: keys.session_values(&key) });
            link.announce_news(&ClusterNews::Deleted { session: key.to_string() });
        }
    }

    /// Deletes the session with this key, which another gateway has deleted.
    pub(crate) fn delete_by_key(&self, key: &str) {
        lock(&self.deleted).add_key(Arc::from(key));
        if let Some(session) = self.find_by_key(key) {
            self.forget_session(&session);
        }
    }

    /// The session with this key, if it is in memory.
    pub(crate) fn find_by_key(&self, key: &str) -> Option<Arc<HttpSession>> {
        lock(&self.sessions).find_by_key(key).map(Arc::clone)
    }

    /// Removes a session from the table.
    pub(crate) fn forget_session(&self, session: &HttpSession) {
        lock(&self.sessions).remove_session(&session.id);
        session.close();
    }

    /// The session for a request of a principal of the new era.
    pub(crate) fn principal_session(
        &self,
        identity: &Arc<ClientIdentity>,
        method: &str,
        params: Option<&RawJson>,
    ) -> GatewaySession {
        let mut principals = lock(&self.principals);
        let entry = principals.entry(Arc::clone(&identity.account)).or_insert_with(|| PrincipalSessions {
            sessions: ClientSessions::new(&self.gateway, identity),
            used: 0,
        });
        entry.used = seconds_since_epoch();
        entry.sessions.session_for(method, params)
    }

    /// The gateway for a client with these capabilities.
    fn gateway_for(&self, capabilities: Option<&Value>) -> Gateway {
        self.gateway.for_client(capabilities.map(offer_from_capabilities).unwrap_or_default())
    }

    /// Stores the token that came with a request, to be exchanged for those of servers.
    pub(crate) fn store_token_of(&self, identity: &ClientIdentity) {
        self.gateway.store_token_of(identity);
    }

    /// The number of sessions of the old era in memory.
    pub(crate) fn len(&self) -> usize {
        lock(&self.sessions).len()
    }

    /// Closes the streams outside of requests, when the gateway stops.
    pub(crate) fn close_channels(&self) {
        let sessions: Vec<_> = lock(&self.sessions).all_sessions().cloned().collect();
        sessions.iter().for_each(|session| session.channel.end());
    }

    /// Removes expired entries, and returns the sessions in memory. Called from time to time.
    pub(crate) fn remove_expired(&self) -> Vec<Arc<HttpSession>> {
        self.gateway.close_idle_principals();
        let now = seconds_since_epoch();
        let is_over = |since: u64, limit: std::time::Duration| now.saturating_sub(since) > limit.as_secs();
        lock(&self.deleted).remove_older(DOOR_SESSION_TIME);
        // A parked call may go on without its client, after an answer from another terminal.
        lock(&self.principals).retain(|_, entry| {
            entry.sessions.has_parked_calls() || !is_over(entry.used, DOOR_PRINCIPAL_TIME)
        });
        let sessions: Vec<_> = lock(&self.sessions).all_sessions().cloned().collect();
        for session in &sessions {
            session.remove_expired_streams();
            if session.is_idle() && is_over(session.last_use(), DOOR_SESSION_TIME) {
                self.forget_session(session);
            }
        }
        sessions
    }

    fn seal_session(&self, principal: &str, sealed: &SealedSession) -> Option<String> {
        let content = serde_json::to_vec(sealed).ok()?;
        self.seal.seal_value(&[principal, &self.endpoint, "session"], &content)
    }

    fn add_session(
        &self,
        id: &str,
        principal: &Arc<str>,
        revision: ProtocolVersion,
        session: GatewaySession,
    ) -> Arc<HttpSession> {
        let id: Arc<str> = Arc::from(id);
        let identity = HttpIdentity { id: Arc::clone(&id), key: session_key(&id) };
        session.set_http_identity(identity);
        let new = HttpSession::start(id, Arc::clone(principal), revision, (session, StreamKind::Channel));
        let mut sessions = lock(&self.sessions);
        let oldest = match sessions.len() >= DOOR_SESSIONS {
            true => {
                let idle = sessions.all_sessions().filter(|session| session.is_idle());
                idle.min_by_key(|session| session.last_use()).map(Arc::clone)
            }
            false => None,
        };
        if let Some(oldest) = oldest.as_ref() {
            sessions.remove_session(&oldest.id);
        }
        // Of two requests that restore a session at once, both use the first.
        sessions.add_session(new)
    }
}

/// The name of a session in the shared state: a digest of its id, so that the state holds no ids.
pub(crate) fn session_key(id: &str) -> Arc<str> {
    let digest = Sha256::digest(id.as_bytes());
    Arc::from(Hex(digest.get(..16).unwrap_or_default()).to_string())
}

/// Removes the finished streams of the sessions that were used least recently, until all streams are within `most`
/// bytes.
pub(crate) fn limit_kept_bytes(mut sessions: Vec<Arc<HttpSession>>, most: usize) {
    let mut kept: usize = sessions.iter().map(|session| session.kept_bytes()).sum();
    if kept <= most {
        return;
    }
    sessions.sort_unstable_by_key(|session| session.last_use());
    for session in &sessions {
        if kept <= most {
            return;
        }
        let before = session.kept_bytes();
        session.remove_finished_streams();
        kept = kept.saturating_sub(before.saturating_sub(session.kept_bytes()));
    }
}

fn kept_capabilities(capabilities: Option<&Value>) -> Value {
    let capability = |name: &str| Some((name.to_owned(), capabilities?.get(name)?.clone()));
    Value::Object(KEPT_CAPABILITIES.into_iter().filter_map(capability).collect())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change is one step, so a panic leaves no partial change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
