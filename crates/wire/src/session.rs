//! A conversation whose protocol is agreed: the same calls for both eras.

mod listen;
mod round;

use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use mcparley_model::limits::DESCRIPTION_CHARS;
use mcparley_model::log_level::LogLevel;
use mcparley_model::text::{Untrusted, cut};
use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::json::RawJson;
use crate::params::{Meta, Params};
use crate::peer::{CallOptions, Peer};
pub use listen::{Listen, Listening};
pub use round::{Answered, Want, Wanted};

/// A revision of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(&'static str);

impl Version {
    /// The stateless era.
    pub const NEW: Self = Self("2026-07-28");
    /// The newest revision with sessions; the one we offer.
    pub const NEWEST_OLD: Self = Self("2025-11-25");
    /// All revisions with sessions that we speak.
    pub const OLD: [Self; 4] = [Self("2024-11-05"), Self("2025-03-26"), Self("2025-06-18"), Self::NEWEST_OLD];

    /// The date that names it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// The revision with sessions that goes by this date.
    #[must_use]
    pub fn parse_old(word: &str) -> Option<Self> {
        Self::OLD.into_iter().find(|version| version.0 == word)
    }
}

/// The era that was agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spoken {
    /// `initialize` and a session, in this revision.
    Old(Version),
    /// Stateless.
    New,
}

impl Spoken {
    /// The revision.
    #[must_use]
    pub fn version(self) -> Version {
        match self {
            Self::Old(version) => version,
            Self::New => Version::NEW,
        }
    }
}

/// What a server said about itself. All of it is the server's word.
#[derive(Clone, Debug)]
pub struct About {
    /// Its name and version.
    pub name: Option<Untrusted>,
    /// Its version.
    pub version: Option<Untrusted>,
    /// What it can do.
    pub capabilities: Map<String, Value>,
    /// How it wants to be used, cut to what a prompt can bear.
    pub instructions: Option<Untrusted>,
}

impl About {
    pub(crate) fn new(
        info: Option<&Value>,
        capabilities: Option<Value>,
        instructions: Option<String>,
    ) -> Self {
        let field = |name: &str| info.and_then(|info| info.get(name)).and_then(Value::as_str);
        let capabilities = match capabilities {
            Some(Value::Object(capabilities)) => capabilities,
            Some(_) | None => Map::new(),
        };
        let instructions =
            instructions.map(|text| Untrusted::new(cut(&text, DESCRIPTION_CHARS).into_owned()));
        Self {
            name: field("name").map(Untrusted::new),
            version: field("version").map(Untrusted::new),
            capabilities,
            instructions,
        }
    }

    /// Whether it offers `name` (`tools`, `prompts`, `resources`, … or the id of an extension, which has a slash). Only
    /// what is offered is asked for.
    #[must_use]
    pub fn offers(&self, name: &str) -> bool {
        let capability = match name.contains('/') {
            true => self.capabilities.get("extensions").and_then(|extensions| extensions.get(name)),
            false => self.capabilities.get(name),
        };
        capability.is_some_and(|capability| !capability.is_null())
    }
}

/// A conversation whose protocol is agreed. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Session {
    peer: Peer,
    spoken: Spoken,
    about: Arc<About>,
    /// What every request carries, as it is now. Read for a moment, changed hardly ever.
    meta: Arc<RwLock<Arc<Meta>>>,
}

/// By which a request of the new era says what may be logged.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

impl Session {
    pub(crate) fn new(peer: Peer, spoken: Spoken, about: About, meta: Map<String, Value>) -> Self {
        let meta = Arc::new(RwLock::new(Arc::new(Meta::from(meta))));
        Self { peer, spoken, about: Arc::new(about), meta }
    }

    /// Says with every request of the new era how important a log message must be; without a level the server sends
    /// none. The old era has a request for it, so there nothing changes.
    pub fn set_log_level(&self, level: Option<LogLevel>) {
        match self.spoken {
            Spoken::Old(_) => return,
            Spoken::New => {}
        }
        let level = level.map(|level| Value::from(level.as_str()));
        let mut meta = self.meta.write().unwrap_or_else(PoisonError::into_inner);
        *meta = Arc::new(meta.with(LOG_LEVEL, level));
    }

    fn meta(&self) -> Arc<Meta> {
        // Every change is one step, so a panic leaves nothing half done.
        Arc::clone(&self.meta.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The era and revision.
    #[must_use]
    pub fn spoken(&self) -> Spoken {
        self.spoken
    }

    /// What the server said about itself.
    #[must_use]
    pub fn about(&self) -> &About {
        &self.about
    }

    /// The conversation below.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Makes a request in the way of the agreed era. With `options.progress`, the server is asked for progress.
    ///
    /// # Errors
    /// A [`Failure`].
    pub async fn call(&self, method: &str, params: Params, options: CallOptions) -> Result<RawJson, Failure> {
        self.call_with(method, &params, options).await
    }

    /// As [`Session::call`], with parameters that the caller keeps, for a request that may have to be repeated.
    ///
    /// # Errors
    /// A [`Failure`].
    pub async fn call_with(
        &self,
        method: &str,
        params: &Params,
        options: CallOptions,
    ) -> Result<RawJson, Failure> {
        match self.round(method, params, options).await? {
            Answered::Complete(answer) => Ok(answer),
            Answered::Wants(_) | Answered::Task(_) => Err(unasked()),
        }
    }

    /// As [`Session::call_with`], for a request that a server of the new era may answer by wanting something first, or by
    /// working on it by itself.
    ///
    /// # Errors
    /// A [`Failure`].
    pub async fn round(
        &self,
        method: &str,
        params: &Params,
        options: CallOptions,
    ) -> Result<Answered, Failure> {
        let (request, meta) = (self.peer.prepare(), self.meta());
        let answer = if options.progress.is_some() {
            let params = params.clone().with_meta("progressToken", request.token());
            request.call_with(method, (&params, &meta), options).await?
        } else {
            request.call_with(method, (params, &meta), options).await?
        };
        match self.spoken {
            Spoken::Old(_) => Ok(Answered::Complete(answer)),
            Spoken::New => sorted(answer),
        }
    }
}

/// In the new era every result says what it is; what is not complete is not a result yet.
fn sorted(answer: RawJson) -> Result<Answered, Failure> {
    #[derive(Deserialize)]
    struct Typed {
        #[serde(rename = "resultType")]
        kind: Option<String>,
    }
    if is_plainly_complete(answer.as_bytes()) {
        return Ok(Answered::Complete(answer));
    }
    match answer.decode::<Typed>()?.kind.as_deref() {
        None | Some("complete") => Ok(Answered::Complete(answer)),
        Some("input_required") => Wanted::read(&answer).map(Answered::Wants),
        Some("task") => Ok(Answered::Task(answer)),
        Some(_) => Err(unasked()),
    }
}

fn unasked() -> Failure {
    Failure::Protocol("its result is of a type we did not ask for".into())
}

/// Finds the member that says what a result is. Made once, because making it costs more than using it.
static RESULT_TYPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br#""resultType""#));

/// Whether a result says so in its first or its last member, as servers write it. Saves reading a large result
/// once more; what is not so plain is read.
fn is_plainly_complete(result: &[u8]) -> bool {
    let is_first = result.starts_with(br#"{"resultType":"complete""#);
    let is_last = result.ends_with(br#","resultType":"complete"}"#);
    // Said twice, one of them could say something else.
    (is_first || is_last) && RESULT_TYPE.find_iter(result).nth(1).is_none()
}
