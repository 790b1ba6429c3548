//! Finds out which era a server speaks, without breaking one that knows only the other (T9).
//!
//! The probe is `server/discover`. Whatever an old server does with it (refuse, ignore, exit) leads to
//! `initialize`: on the same connection, or on a fresh one if the probe ended it. A new server may be slow
//! to start, so its late answer to the probe still counts. 2026-07-28 is never offered inside `initialize`.
//! A server behind a URL that takes no messages there may speak the transport of 2024-11-05.

use std::pin::{Pin, pin};
use std::time::Duration;

use mcparley_model::config::Era;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::failure::{Failure, HEADER_MISMATCH, Phase, RpcError};
use crate::json::RawJson;
use crate::params::Params;
use crate::peer::{Boxed, CallOptions, Peer};
use crate::session::{About, Session, Spoken, Version};

/// How long a server may take to answer the probe before it is greeted in the old way as well.
const PROBE_LIMIT: Duration = Duration::from_secs(3);

/// The probe's share of a shorter limit.
const PROBE_SHARE: u32 = 5;

/// The server needs us to be able to do something that we cannot.
const MISSING_CAPABILITY: i64 = -32021;

/// The server does not speak the revision, `initialize` included.
const UNSUPPORTED_VERSION: i64 = -32022;

/// What opens connections to one server, as often as needed.
pub trait Connect: Send {
    /// What a connection is.
    type Link: Carrier;

    /// Opens a connection; nothing has been said on it yet.
    fn open(&mut self) -> Boxed<'_, Result<Self::Link, Failure>>;

    /// Opens a connection over the transport of 2024-11-05, if the server turns out to have that one; `None` if it
    /// does not. Asked for when a server behind a URL refuses to be greeted.
    fn open_legacy(&mut self) -> Boxed<'_, Result<Option<Self::Link>, Failure>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Hears what is about to be tried, for whoever wants to know how long each step takes.
    fn about_to(&mut self, _step: Step) {}
}

/// A step on the way to an agreed protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A connection is opened.
    Open,
    /// The server is asked in the new way.
    Probe,
    /// The server is greeted in the old way; the question of the new one may still be open.
    Greet,
    /// A fresh connection is opened, because the first one ended with the probe.
    Reopen,
    /// The transport of 2024-11-05 is tried.
    Legacy,
}

/// Something with a conversation on it.
pub trait Carrier: Send + Sync {
    /// Our end.
    fn peer(&self) -> &Peer;

    /// Learns what was agreed. Most carriers carry everything alike.
    fn agreed(&self, _spoken: Spoken) {}
}

/// Who we are and what we can do.
#[derive(Clone, Debug)]
pub struct Introduction {
    /// `clientInfo`
    pub info: Value,
    /// `capabilities`, of both eras: what only one of them has is told in that one only.
    pub capabilities: Value,
}

impl Introduction {
    /// Without extensions: only the new era has them.
    fn old_capabilities(&self) -> Value {
        let mut capabilities = self.capabilities.clone();
        if let Some(members) = capabilities.as_object_mut() {
            members.remove("extensions");
        }
        capabilities
    }

    /// Without the promise to tell of other roots: the new era has no such notification.
    fn new_capabilities(&self) -> Value {
        let mut capabilities = self.capabilities.clone();
        if let Some(roots) = capabilities.get_mut("roots").and_then(Value::as_object_mut) {
            roots.remove("listChanged");
        }
        capabilities
    }
}

/// A connection with an agreed protocol.
#[derive(Debug)]
pub struct Connected<L> {
    /// The connection.
    pub link: L,
    /// What was agreed on it.
    pub session: Session,
}

/// Opens a connection and agrees on a protocol, within `limit` in all.
///
/// # Errors
/// A [`Failure`]; for a limit, [`Failure::TimedOut`] while connecting.
pub async fn connect<C: Connect>(
    server: &mut C,
    era: Era,
    introduction: &Introduction,
    limit: Duration,
) -> Result<Connected<C::Link>, Failure> {
    let deadline = Instant::now() + limit;
    let timed_out = Failure::TimedOut { phase: Phase::Connecting, after: limit };
    let work = async {
        server.about_to(Step::Open);
        let link = server.open().await?;
        match era {
            Era::Old => greet_old(server, link, introduction).await,
            Era::New => {
                server.about_to(Step::Probe);
                new(link, introduction, limit).await
            }
            Era::Auto => auto(server, link, introduction, limit).await,
        }
    };
    tokio::time::timeout_at(deadline, work).await.unwrap_or(Err(timed_out))
}

async fn auto<C: Connect>(
    server: &mut C,
    link: C::Link,
    introduction: &Introduction,
    limit: Duration,
) -> Result<Connected<C::Link>, Failure> {
    match greet(server, link.peer(), introduction, limit).await {
        Ok(Greeted::New(about)) => {
            Ok(Connected { session: session(&link, Spoken::New, about, introduction), link })
        }
        Ok(Greeted::Old(version, about)) => welcomed(link, version, about, introduction).await,
        // It may have been the probe that ended it, so it gets another chance without.
        Err(Failure::Closed { .. }) => {
            drop(link);
            server.about_to(Step::Reopen);
            let link = server.open().await?;
            greet_old(server, link, introduction).await
        }
        Err(failure) => legacy(server, failure, introduction).await,
    }
}

/// Greets in the old way, and in the oldest if the server knows only that.
async fn greet_old<C: Connect>(
    server: &mut C,
    link: C::Link,
    introduction: &Introduction,
) -> Result<Connected<C::Link>, Failure> {
    server.about_to(Step::Greet);
    match old(link, introduction).await {
        Ok(connected) => Ok(connected),
        Err(failure) => legacy(server, failure, introduction).await,
    }
}

/// Greets a server of 2024-11-05, should the one that failed like this be such a one.
async fn legacy<C: Connect>(
    server: &mut C,
    failure: Failure,
    introduction: &Introduction,
) -> Result<Connected<C::Link>, Failure> {
    if !takes_no_posts(&failure) {
        return Err(failure);
    }
    server.about_to(Step::Legacy);
    match server.open_legacy().await? {
        Some(link) => {
            server.about_to(Step::Greet);
            old(link, introduction).await
        }
        None => Err(failure),
    }
}

/// Whether this refusal is one of the new era and leaves no way into the old one.
fn is_new_only(error: &RpcError) -> bool {
    match error.code {
        HEADER_MISMATCH | MISSING_CAPABILITY => true,
        UNSUPPORTED_VERSION => {
            let supported = supported(error);
            !supported.is_empty() && supported.iter().all(|word| Version::parse_old(word).is_none())
        }
        _ => false,
    }
}

/// Whether a server that refuses our revision of the new era says that it speaks it.
fn names_ours(error: &RpcError) -> bool {
    error.code == UNSUPPORTED_VERSION && supported(error).iter().any(|word| word == Version::NEW.as_str())
}

/// The revisions that a refusal names.
fn supported(error: &RpcError) -> Vec<String> {
    let supported = error.data.as_ref().and_then(|data| data.member("supported"));
    supported.and_then(|list| list.decode().ok()).unwrap_or_default()
}

/// Whether a server may be one of 2024-11-05, whose URL is only for listening. One that answers with an error of
/// the protocol, wants a sign-in or has too much to do is not.
fn takes_no_posts(failure: &Failure) -> bool {
    matches!(failure, Failure::Status { code: 400..=499, .. })
        && !matches!(failure, Failure::Status { code: 408 | 429, .. })
}

/// What a server answered to.
enum Greeted {
    New(About),
    Old(Version, About),
}

impl Greeted {
    fn old((version, about): (Version, About)) -> Self {
        Self::Old(version, about)
    }
}

/// Probes, and greets in the old way once the probe is refused or nothing has been heard for a while.
async fn greet<C: Connect>(
    server: &mut C,
    peer: &Peer,
    introduction: &Introduction,
    limit: Duration,
) -> Result<Greeted, Failure> {
    server.about_to(Step::Probe);
    let patience = PROBE_LIMIT.min(limit / PROBE_SHARE);
    let mut probe = pin!(discover(peer, introduction, limit));
    match tokio::time::timeout(patience, probe.as_mut()).await {
        Ok(Ok(about)) => Ok(Greeted::New(about)),
        Ok(Err(failure)) if is_final(&failure) => Err(failure),
        Ok(Err(_)) => {
            server.about_to(Step::Greet);
            initialize(peer, introduction).await.map(Greeted::old)
        }
        Err(_) => {
            server.about_to(Step::Greet);
            first_answer(probe, initialize(peer, introduction)).await
        }
    }
}

/// An old server that ignores the probe and a new one that is slow to start look alike, so both questions
/// stay open and the first answer decides.
async fn first_answer(
    mut probe: Pin<&mut impl Future<Output = Result<About, Failure>>>,
    greeting: impl Future<Output = Result<(Version, About), Failure>>,
) -> Result<Greeted, Failure> {
    let mut greeting = pin!(greeting);
    tokio::select! {
        biased;
        probed = probe.as_mut() => match probed {
            Ok(about) => Ok(Greeted::New(about)),
            Err(failure) if is_final(&failure) => Err(failure),
            Err(_) => greeting.await.map(Greeted::old),
        },
        greeted = greeting.as_mut() => match greeted {
            // Only a server of the new era says this; its answer to the probe is on its way.
            Err(Failure::Answered(error)) if error.code == UNSUPPORTED_VERSION => {
                probe.await.map(Greeted::New)
            }
            greeted => greeted.map(Greeted::old),
        },
    }
}

/// Whether the other greeting would meet the same closed door, or nobody at all, or only hide the reason.
fn is_final(failure: &Failure) -> bool {
    match failure {
        Failure::Closed { .. } | Failure::Refused { .. } | Failure::Unauthorized { .. } => true,
        Failure::Answered(error) => is_new_only(error),
        _ => false,
    }
}

async fn new<L: Carrier>(
    link: L,
    introduction: &Introduction,
    limit: Duration,
) -> Result<Connected<L>, Failure> {
    let about = discover(link.peer(), introduction, limit).await?;
    Ok(Connected { session: session(&link, Spoken::New, about, introduction), link })
}

async fn old<L: Carrier>(link: L, introduction: &Introduction) -> Result<Connected<L>, Failure> {
    let (version, about) = initialize(link.peer(), introduction).await?;
    welcomed(link, version, about, introduction).await
}

/// Ends the old greeting.
async fn welcomed<L: Carrier>(
    link: L,
    version: Version,
    about: About,
    introduction: &Introduction,
) -> Result<Connected<L>, Failure> {
    let session = session(&link, Spoken::Old(version), about, introduction);
    link.peer().notify("notifications/initialized", None).await?;
    Ok(Connected { session, link })
}

fn session<L: Carrier>(link: &L, spoken: Spoken, about: About, introduction: &Introduction) -> Session {
    let meta = match spoken {
        Spoken::New => new_meta(introduction),
        Spoken::Old(_) => Map::new(),
    };
    link.agreed(spoken);
    Session::new(link.peer().clone(), spoken, about, meta)
}

/// What every request of the new era carries.
fn new_meta(introduction: &Introduction) -> Map<String, Value> {
    let version = Version::NEW.as_str();
    [
        ("io.modelcontextprotocol/protocolVersion", Value::from(version)),
        ("io.modelcontextprotocol/clientInfo", introduction.info.clone()),
        ("io.modelcontextprotocol/clientCapabilities", introduction.new_capabilities()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

async fn discover(peer: &Peer, introduction: &Introduction, limit: Duration) -> Result<About, Failure> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Discovered {
        supported_versions: Vec<String>,
        #[serde(default)]
        capabilities: Option<Value>,
        #[serde(default)]
        instructions: Option<String>,
        #[serde(default, rename = "_meta")]
        meta: Option<Map<String, Value>>,
    }
    let found: Discovered = probe(peer, introduction, limit).await?.decode()?;
    if !found.supported_versions.iter().any(|version| version == Version::NEW.as_str()) {
        return Err(Failure::Protocol("it does not support 2026-07-28".into()));
    }
    let info = found.meta.and_then(|mut meta| meta.remove("io.modelcontextprotocol/serverInfo"));
    Ok(About::new(info.as_ref(), found.capabilities, found.instructions))
}

/// Asks what there is. A server that refuses the revision and names it among those it speaks is asked once more.
async fn probe(peer: &Peer, introduction: &Introduction, limit: Duration) -> Result<RawJson, Failure> {
    let params = Params::new().render(&new_meta(introduction).into());
    let ask = || {
        // Old servers know no such request, so they must not hear of its end either.
        let options = CallOptions { limit: Some(limit), silent: true, ..CallOptions::default() };
        peer.call("server/discover", params.as_ref(), options)
    };
    match ask().await {
        Err(Failure::Answered(error)) if names_ours(&error) => ask().await,
        answer => answer,
    }
}

async fn initialize(peer: &Peer, introduction: &Introduction) -> Result<(Version, About), Failure> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialized {
        protocol_version: Value,
        #[serde(default)]
        capabilities: Option<Value>,
        #[serde(default)]
        server_info: Option<Value>,
        #[serde(default)]
        instructions: Option<Value>,
    }
    let params = RawJson::of(&json!({
        "protocolVersion": Version::NEWEST_OLD.as_str(),
        "capabilities": introduction.old_capabilities(),
        "clientInfo": introduction.info,
    }));
    let params = params.map_err(|error| Failure::Protocol(error.to_string().into()))?;
    let options = CallOptions { silent: true, ..CallOptions::default() };
    let answer = peer.call("initialize", Some(&params), options).await?;
    let answer: Initialized = answer.decode()?;
    let version = answer.protocol_version.as_str().and_then(Version::parse_old).ok_or_else(|| {
        let offered = answer.protocol_version.to_string();
        Failure::Protocol(
            format!("it speaks version {}, which we do not", mcparley_model::text::display(&offered)).into(),
        )
    })?;
    let instructions = answer.instructions.and_then(|text| text.as_str().map(str::to_owned));
    Ok((version, About::new(answer.server_info.as_ref(), answer.capabilities, instructions)))
}

#[cfg(test)]
mod tests;
