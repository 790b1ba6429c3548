//! A session with an agreed protocol: the same calls for both eras.

mod listen;
mod round;

use std::sync::{Arc, PoisonError, RwLock};

use mcparley_model::limits::DESCRIPTION_CHARS;
use mcparley_model::log_level::LogLevel;
use mcparley_model::text::{Untrusted, truncate_text};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::params::{PeerRequestMeta, RequestParams};
use crate::peer::{Peer, PeerCallOptions, PreparedRequest};
pub use listen::{ListenSubscription, SubscriptionFilter};
use mcparley_json::RawJson;
pub use round::{InputRequest, RequiredInput, RoundOutcome};

/// A revision of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtocolVersion(&'static str);

impl ProtocolVersion {
    /// The stateless era.
    pub const NEW: Self = Self("2026-07-28");
    /// The newest revision with sessions; the one we offer.
    pub const NEWEST_OLD: Self = Self("2025-11-25");
    /// All revisions with sessions that we speak.
    pub const OLD: [Self; 4] = [Self("2024-11-05"), Self("2025-03-26"), Self("2025-06-18"), Self::NEWEST_OLD];

    /// The date that names the revision.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// Parses the date of a revision with sessions.
    #[must_use]
    pub fn parse_old(word: &str) -> Option<Self> {
        Self::OLD.into_iter().find(|version| version.0 == word)
    }

    /// Whether contents may be audio.
    #[must_use]
    pub fn has_audio(self) -> bool {
        self >= Self("2025-03-26")
    }

    /// Whether contents may be links to resources.
    #[must_use]
    pub fn has_resource_links(self) -> bool {
        self >= Self("2025-06-18")
    }

    /// Whether a completion request has the values of other arguments.
    #[must_use]
    pub fn has_completion_context(self) -> bool {
        self >= Self("2025-06-18")
    }
}

/// The era that was agreed on in the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgreedProtocol {
    /// The old era with `initialize` and a session, in this revision.
    Old(ProtocolVersion),
    /// The new era, stateless.
    New,
}

impl AgreedProtocol {
    /// The revision.
    #[must_use]
    pub fn version(self) -> ProtocolVersion {
        match self {
            Self::Old(version) => version,
            Self::New => ProtocolVersion::NEW,
        }
    }
}

/// A server's description of itself. All of it is untrusted.
#[derive(Clone, Debug)]
pub struct ServerDescription {
    /// The server's name.
    pub name: Option<Untrusted>,
    /// The server's version.
    pub version: Option<Untrusted>,
    /// The server's capabilities.
    pub capabilities: Map<String, Value>,
    /// The server's instructions, cut to the length limit of a prompt.
    pub instructions: Option<Untrusted>,
    /// The server's `serverInfo`, as it sent it.
    pub info: Option<Value>,
    /// The server's instructions, whole.
    pub whole_instructions: Option<Untrusted>,
}

impl ServerDescription {
    /// A description from the members of a handshake.
    #[must_use]
    pub fn new(info: Option<&Value>, capabilities: Option<Value>, instructions: Option<String>) -> Self {
        let field = |name: &str| info.and_then(|info| info.get(name)).and_then(Value::as_str);
        let capabilities = match capabilities {
            Some(Value::Object(capabilities)) => capabilities,
            Some(_) | None => Map::new(),
        };
        let whole_instructions = instructions.map(Untrusted::new);
        let instructions = whole_instructions
            .as_ref()
            .map(|text| Untrusted::new(truncate_text(text.raw(), DESCRIPTION_CHARS).into_owned()));
        Self {
            name: field("name").map(Untrusted::new),
            version: field("version").map(Untrusted::new),
            capabilities,
            instructions,
            info: info.cloned(),
            whole_instructions,
        }
    }

    /// Whether the server has the capability `name` (`tools`, `prompts`, `resources`, … or the id of an
    /// extension, which has a slash). A request needs its capability.
    #[must_use]
    pub fn has_capability(&self, name: &str) -> bool {
        let capability = if name.contains('/') {
            self.capabilities.get("extensions").and_then(|extensions| extensions.get(name))
        } else {
            self.capabilities.get(name)
        };
        capability.is_some_and(|capability| !capability.is_null())
    }
}

/// A session with an agreed protocol. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ProtocolSession {
    peer: Peer,
    protocol: AgreedProtocol,
    server: Arc<ServerDescription>,
    /// The current `_meta` of every request. Read for a moment, hardly ever changed.
    meta: Arc<RwLock<Arc<PeerRequestMeta>>>,
}

/// The `_meta` member with the log level of a request of the new era.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

impl ProtocolSession {
    pub(crate) fn new(
        peer: Peer,
        protocol: AgreedProtocol,
        about: ServerDescription,
        meta: Map<String, Value>,
    ) -> Self {
        let meta = Arc::new(RwLock::new(Arc::new(PeerRequestMeta::from(meta))));
        Self { peer, protocol, server: Arc::new(about), meta }
    }

    /// Sets the log level that every request of the new era carries; without a level the server sends no log
    /// messages.
    /// The old era has a request for it, so there this has no effect.
    pub fn set_log_level(&self, level: Option<LogLevel>) {
        match self.protocol {
            AgreedProtocol::Old(_) => return,
            AgreedProtocol::New => {}
        }
        let level = level.map(|level| Value::from(level.as_str()));
        let mut meta = self.meta.write().unwrap_or_else(PoisonError::into_inner);
        *meta = Arc::new(meta.with_member(LOG_LEVEL, level));
    }

    fn current_meta(&self) -> Arc<PeerRequestMeta> {
        // Every change is one step, so a panic leaves no partial change.
        Arc::clone(&self.meta.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The agreed era and revision.
    #[must_use]
    pub fn protocol(&self) -> AgreedProtocol {
        self.protocol
    }

    /// The server's description of itself.
    #[must_use]
    pub fn server_description(&self) -> &ServerDescription {
        &self.server
    }

    /// The JSON-RPC peer of the session.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Allocates an id for a request, so that messages which belong to the request can be recognized.
    #[must_use]
    pub fn prepare_request(&self) -> PreparedRequest {
        self.peer.prepare_request()
    }

    /// Sends a request as the agreed era demands. With `options.progress`, the server is asked for progress.
    ///
    /// # Errors
    /// A [`Failure`].
    pub async fn call(
        &self,
        method: &str,
        params: RequestParams,
        options: PeerCallOptions,
    ) -> Result<RawJson, Failure> {
        self.call_prepared(self.prepare_request(), (method, &params), options).await
    }

    /// Sends a request that comes from [`ProtocolSession::prepare_request`]; otherwise like
    /// [`ProtocolSession::call`].
    ///
    /// # Errors
    /// A [`Failure`].
    pub async fn call_prepared(
        &self,
        request: PreparedRequest,
        (method, params): (&str, &RequestParams),
        options: PeerCallOptions,
    ) -> Result<RawJson, Failure> {
        match self.call_round(request, (method, params), options).await? {
            RoundOutcome::Complete(answer) => Ok(answer),
            RoundOutcome::InputRequired(_) | RoundOutcome::Task(_) => Err(unexpected_result_type()),
        }
    }

    /// Sends a request that a server of the new era may answer by requiring input first, or by turning it
    /// into a task;
    /// otherwise like [`ProtocolSession::call_prepared`].
    ///
    /// # Errors
    /// A [`Failure`].
    pub async fn call_round(
        &self,
        request: PreparedRequest,
        (method, params): (&str, &RequestParams),
        options: PeerCallOptions,
    ) -> Result<RoundOutcome, Failure> {
        let meta = self.current_meta();
        let answer = if options.progress.is_some() {
            let params = params.clone().with_meta("progressToken", request.token());
            request.call_with_params(method, (&params, &meta), options).await?
        } else {
            request.call_with_params(method, (params, &meta), options).await?
        };
        match self.protocol {
            AgreedProtocol::Old(_) => Ok(RoundOutcome::Complete(answer)),
            AgreedProtocol::New => classify_result(answer),
        }
    }
}

/// Classifies a result by its `resultType`, which every result of the new era has; only a complete one is
/// final.
fn classify_result(answer: RawJson) -> Result<RoundOutcome, Failure> {
    #[derive(Deserialize)]
    struct ResultTypeField {
        #[serde(rename = "resultType")]
        kind: Option<String>,
    }
    if is_plainly_complete(&answer) {
        return Ok(RoundOutcome::Complete(answer));
    }
    match answer.decode::<ResultTypeField>()?.kind.as_deref() {
        None | Some("complete") => Ok(RoundOutcome::Complete(answer)),
        Some("input_required") => {
            RequiredInput::from_result(&answer).map(Box::new).map(RoundOutcome::InputRequired)
        }
        Some("task") => Ok(RoundOutcome::Task(answer)),
        Some(_) => Err(unexpected_result_type()),
    }
}

fn unexpected_result_type() -> Failure {
    Failure::Protocol("its result has an unexpected `resultType`".into())
}

/// Whether a result is complete by its `resultType`, as the scan at its arrival noted it. All other forms are
/// parsed.
fn is_plainly_complete(answer: &RawJson) -> bool {
    let bytes = answer.as_bytes();
    answer.result_scan().is_some_and(|scan| scan.member(bytes, "resultType") == Some(br#""complete""#))
}

#[cfg(test)]
mod tests {
    //! The differences between revisions.
    use super::ProtocolVersion;

    #[test]
    fn later_revisions_have_all_that_an_earlier_one_introduced() {
        let all: Vec<ProtocolVersion> =
            ProtocolVersion::OLD.into_iter().chain([ProtocolVersion::NEW]).collect();
        let count =
            |has: fn(ProtocolVersion) -> bool| all.iter().skip_while(|version| !has(**version)).count();
        assert_eq!(count(ProtocolVersion::has_audio), 4);
        assert_eq!(count(ProtocolVersion::has_resource_links), 3);
        assert_eq!(count(ProtocolVersion::has_completion_context), 3);
        assert!(
            all.into_iter().filter(|version| version.has_resource_links()).all(ProtocolVersion::has_audio)
        );
    }
}
