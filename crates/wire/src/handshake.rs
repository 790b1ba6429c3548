//! Handshake: negotiates the protocol era with a server, without breaking one that supports only the other
//! era.
//!
//! The probe is `server/discover`. If an old server refuses it, ignores it or exits, `initialize` follows: on
//! the same connection, or on a fresh one if the probe ended it. A new server may be slow to start, so its
//! late response to the probe still counts. 2026-07-28 is never offered inside `initialize`. A server behind
//! a URL that accepts no POST there may use the transport of 2024-11-05.

use std::pin::{Pin, pin};
use std::time::Duration;

use mcparley_model::config::Era;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::failure::{Failure, FailurePhase, HEADER_MISMATCH, RpcError, UNSUPPORTED_VERSION};
use crate::params::RequestParams;
use crate::peer::{BoxedFuture, Peer, PeerCallOptions};
use crate::session::{AgreedProtocol, ProtocolSession, ProtocolVersion, ServerDescription};
use mcparley_json::RawJson;

/// Timeout of the probe, after which `initialize` is sent as well.
const PROBE_LIMIT: Duration = Duration::from_secs(3);

/// The probe's share of a shorter timeout.
const PROBE_SHARE: u32 = 5;

/// Error code: the server requires a capability that we do not have.
const MISSING_CAPABILITY: i64 = -32021;

/// Opens connections to one server, as often as needed.
pub trait ServerConnector: Send {
    /// The type of a connection.
    type Link: TransportConnection;

    /// Opens a connection, on which no message has been sent yet.
    fn open(&mut self) -> BoxedFuture<'_, Result<Self::Link, Failure>>;

    /// Opens a connection over the transport of 2024-11-05; `None` if the server does not have that
    /// transport.
    /// Called when a server behind a URL refuses the handshake.
    fn open_legacy(&mut self) -> BoxedFuture<'_, Result<Option<Self::Link>, Failure>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Reports the next step of the handshake, for measuring the duration of each.
    fn on_step(&mut self, _step: HandshakeStep) {}
}

/// A step of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeStep {
    /// A connection is opened.
    Open,
    /// `server/discover` is sent, the probe of the new era.
    Probe,
    /// `initialize` of the old era is sent; the probe may still be unanswered.
    Greet,
    /// A fresh connection is opened, because the first one ended with the probe.
    Reopen,
    /// The transport of 2024-11-05 is tried.
    Legacy,
}

/// A connection with a JSON-RPC peer on it.
pub trait TransportConnection: Send + Sync {
    /// Our end of the connection.
    fn peer(&self) -> &Peer;

    /// Sets the agreed protocol. Most transports work alike in both eras.
    fn set_protocol(&self, _spoken: AgreedProtocol) {}
}

/// Our client information and capabilities.
#[derive(Clone, Debug)]
pub struct Introduction {
    /// `clientInfo`
    pub info: Value,
    /// `capabilities`, of both eras: those that only one era has are sent in that era only.
    pub capabilities: Value,
}

impl Introduction {
    /// The capabilities for the old era: without extensions, which only the new era has.
    fn old_capabilities(&self) -> Value {
        let mut capabilities = self.capabilities.clone();
        if let Some(members) = capabilities.as_object_mut() {
            members.remove("extensions");
        }
        capabilities
    }

    /// The capabilities for the new era: without `roots.listChanged`, because the new era has no such
    /// notification.
    fn new_capabilities(&self) -> Value {
        let mut capabilities = self.capabilities.clone();
        if let Some(roots) = capabilities.get_mut("roots").and_then(Value::as_object_mut) {
            roots.remove("listChanged");
        }
        capabilities
    }
}

/// A connection after the handshake.
#[derive(Debug)]
pub struct EstablishedConnection<L> {
    /// The connection.
    pub link: L,
    /// The session with the agreed protocol.
    pub session: ProtocolSession,
}

/// Opens a connection and negotiates the protocol, within `limit` in all.
///
/// # Errors
/// A [`Failure`]; on timeout, [`Failure::TimedOut`] while connecting.
pub async fn connect<C: ServerConnector>(
    server: &mut C,
    era: Era,
    introduction: &Introduction,
    limit: Duration,
) -> Result<EstablishedConnection<C::Link>, Failure> {
    let deadline = Instant::now() + limit;
    let timed_out = Failure::TimedOut { phase: FailurePhase::Connecting, after: limit };
    let work = async {
        server.on_step(HandshakeStep::Open);
        let link = server.open().await?;
        match era {
            Era::Old => connect_old_or_legacy(server, link, introduction).await,
            Era::New => {
                server.on_step(HandshakeStep::Probe);
                connect_new(link, introduction, limit).await
            }
            Era::Auto => negotiate_era(server, link, introduction, limit).await,
        }
    };
    tokio::time::timeout_at(deadline, work).await.unwrap_or(Err(timed_out))
}

async fn negotiate_era<C: ServerConnector>(
    server: &mut C,
    link: C::Link,
    introduction: &Introduction,
    limit: Duration,
) -> Result<EstablishedConnection<C::Link>, Failure> {
    match probe_or_initialize(server, link.peer(), introduction, limit).await {
        Ok(HandshakeAnswer::New(about)) => Ok(EstablishedConnection {
            session: build_session(&link, AgreedProtocol::New, about, introduction),
            link,
        }),
        Ok(HandshakeAnswer::Old(version, about)) => {
            finish_old_handshake(link, version, about, introduction).await
        }
        // The probe may have ended the connection, so the server gets another attempt without it.
        Err(Failure::Closed { .. }) => {
            drop(link);
            server.on_step(HandshakeStep::Reopen);
            let link = server.open().await?;
            connect_old_or_legacy(server, link, introduction).await
        }
        Err(failure) => connect_legacy(server, failure, introduction).await,
    }
}

/// Sends `initialize`, and falls back to the transport of 2024-11-05.
async fn connect_old_or_legacy<C: ServerConnector>(
    server: &mut C,
    link: C::Link,
    introduction: &Introduction,
) -> Result<EstablishedConnection<C::Link>, Failure> {
    server.on_step(HandshakeStep::Greet);
    match connect_old(link, introduction).await {
        Ok(connected) => Ok(connected),
        Err(failure) => connect_legacy(server, failure, introduction).await,
    }
}

/// Falls back to the transport of 2024-11-05, if the failure indicates such a server.
async fn connect_legacy<C: ServerConnector>(
    server: &mut C,
    failure: Failure,
    introduction: &Introduction,
) -> Result<EstablishedConnection<C::Link>, Failure> {
    if !may_be_legacy(&failure) {
        return Err(failure);
    }
    server.on_step(HandshakeStep::Legacy);
    match server.open_legacy().await? {
        Some(link) => {
            server.on_step(HandshakeStep::Greet);
            connect_old(link, introduction).await
        }
        None => Err(failure),
    }
}

/// Whether this error is one of the new era, so that `initialize` is pointless.
fn is_new_only(error: &RpcError) -> bool {
    match error.code {
        HEADER_MISMATCH | MISSING_CAPABILITY => true,
        UNSUPPORTED_VERSION => {
            let supported = supported_versions(error);
            !supported.is_empty() && supported.iter().all(|word| ProtocolVersion::parse_old(word).is_none())
        }
        _ => false,
    }
}

/// Whether a server that refuses our revision of the new era lists it as supported.
fn lists_our_version(error: &RpcError) -> bool {
    error.code == UNSUPPORTED_VERSION
        && supported_versions(error).iter().any(|word| word == ProtocolVersion::NEW.as_str())
}

/// The revisions listed in an error.
fn supported_versions(error: &RpcError) -> Vec<String> {
    let supported = error.data.as_ref().and_then(|data| data.member("supported"));
    supported.and_then(|list| list.decode().ok()).unwrap_or_default()
}

/// Whether a server may be one of 2024-11-05, whose URL accepts only GET. A server that returns a JSON-RPC
/// error, requires sign-in or is overloaded is not.
fn may_be_legacy(failure: &Failure) -> bool {
    matches!(failure, Failure::Status { code: 400..=499, .. })
        && !matches!(failure, Failure::Status { code: 408 | 429, .. })
}

/// The request that a server answered, with its description.
enum HandshakeAnswer {
    New(ServerDescription),
    Old(ProtocolVersion, ServerDescription),
}

impl HandshakeAnswer {
    fn from_old((version, about): (ProtocolVersion, ServerDescription)) -> Self {
        Self::Old(version, about)
    }
}

/// Sends the probe, and `initialize` once the probe is refused or times out.
async fn probe_or_initialize<C: ServerConnector>(
    server: &mut C,
    peer: &Peer,
    introduction: &Introduction,
    limit: Duration,
) -> Result<HandshakeAnswer, Failure> {
    server.on_step(HandshakeStep::Probe);
    let probe_limit = PROBE_LIMIT.min(limit / PROBE_SHARE);
    let mut probe = pin!(discover_server(peer, introduction, limit));
    match tokio::time::timeout(probe_limit, probe.as_mut()).await {
        Ok(Ok(about)) => Ok(HandshakeAnswer::New(about)),
        Ok(Err(failure)) if is_final(&failure) => Err(failure),
        Ok(Err(_)) => {
            server.on_step(HandshakeStep::Greet);
            send_initialize(peer, introduction).await.map(HandshakeAnswer::from_old)
        }
        Err(_) => {
            server.on_step(HandshakeStep::Greet);
            wait_for_first_answer(probe, send_initialize(peer, introduction)).await
        }
    }
}

/// Waits for the first response of either era. An old server that ignores the probe and a new one that is
/// slow to start look alike, so both requests stay open.
async fn wait_for_first_answer(
    mut probe: Pin<&mut impl Future<Output = Result<ServerDescription, Failure>>>,
    greeting: impl Future<Output = Result<(ProtocolVersion, ServerDescription), Failure>>,
) -> Result<HandshakeAnswer, Failure> {
    let mut greeting = pin!(greeting);
    tokio::select! {
        biased;
        probed = probe.as_mut() => match probed {
            Ok(about) => Ok(HandshakeAnswer::New(about)),
            Err(failure) if is_final(&failure) => Err(failure),
            Err(_) => greeting.await.map(HandshakeAnswer::from_old),
        },
        greeted = greeting.as_mut() => match greeted {
            // Only a server of the new era returns this error; its response to the probe is on its way.
            Err(Failure::ErrorResponse(error)) if error.code == UNSUPPORTED_VERSION => {
                probe.await.map(HandshakeAnswer::New)
            }
            greeted => greeted.map(HandshakeAnswer::from_old),
        },
    }
}

/// Whether `initialize` would fail in the same way, or would only hide the reason.
fn is_final(failure: &Failure) -> bool {
    match failure {
        Failure::Closed { .. } | Failure::Refused { .. } | Failure::Unauthorized { .. } => true,
        Failure::ErrorResponse(error) => is_new_only(error),
        _ => false,
    }
}

async fn connect_new<L: TransportConnection>(
    link: L,
    introduction: &Introduction,
    limit: Duration,
) -> Result<EstablishedConnection<L>, Failure> {
    let about = discover_server(link.peer(), introduction, limit).await?;
    Ok(EstablishedConnection {
        session: build_session(&link, AgreedProtocol::New, about, introduction),
        link,
    })
}

async fn connect_old<L: TransportConnection>(
    link: L,
    introduction: &Introduction,
) -> Result<EstablishedConnection<L>, Failure> {
    let (version, about) = send_initialize(link.peer(), introduction).await?;
    finish_old_handshake(link, version, about, introduction).await
}

/// Finishes the old handshake with `notifications/initialized`.
async fn finish_old_handshake<L: TransportConnection>(
    link: L,
    version: ProtocolVersion,
    about: ServerDescription,
    introduction: &Introduction,
) -> Result<EstablishedConnection<L>, Failure> {
    let session = build_session(&link, AgreedProtocol::Old(version), about, introduction);
    link.peer().notify("notifications/initialized", None).await?;
    Ok(EstablishedConnection { session, link })
}

fn build_session<L: TransportConnection>(
    link: &L,
    protocol: AgreedProtocol,
    about: ServerDescription,
    introduction: &Introduction,
) -> ProtocolSession {
    let meta = match protocol {
        AgreedProtocol::New => new_era_meta(introduction),
        AgreedProtocol::Old(_) => Map::new(),
    };
    link.set_protocol(protocol);
    ProtocolSession::new(link.peer().clone(), protocol, about, meta)
}

/// The `_meta` members of every request of the new era.
fn new_era_meta(introduction: &Introduction) -> Map<String, Value> {
    let version = ProtocolVersion::NEW.as_str();
    [
        ("io.modelcontextprotocol/protocolVersion", Value::from(version)),
        ("io.modelcontextprotocol/clientInfo", introduction.info.clone()),
        ("io.modelcontextprotocol/clientCapabilities", introduction.new_capabilities()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

async fn discover_server(
    peer: &Peer,
    introduction: &Introduction,
    limit: Duration,
) -> Result<ServerDescription, Failure> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct DiscoverResult {
        supported_versions: Vec<String>,
        #[serde(default)]
        capabilities: Option<Value>,
        #[serde(default)]
        instructions: Option<String>,
        #[serde(default, rename = "_meta")]
        meta: Option<Map<String, Value>>,
    }
    let found: DiscoverResult = send_probe(peer, introduction, limit).await?.decode()?;
    if !found.supported_versions.iter().any(|version| version == ProtocolVersion::NEW.as_str()) {
        return Err(Failure::Protocol("it does not support 2026-07-28".into()));
    }
    let info = found.meta.and_then(|mut meta| meta.remove("io.modelcontextprotocol/serverInfo"));
    Ok(ServerDescription::new(info.as_ref(), found.capabilities, found.instructions))
}

/// Sends `server/discover`. A server that refuses the revision and lists it as supported is asked once more.
async fn send_probe(peer: &Peer, introduction: &Introduction, limit: Duration) -> Result<RawJson, Failure> {
    let params = RequestParams::new().to_json(&new_era_meta(introduction).into());
    let ask = || {
        // Old servers do not know the request, so they must not receive its cancellation either.
        let options = PeerCallOptions { limit: Some(limit), silent: true, ..PeerCallOptions::default() };
        peer.call("server/discover", params.as_ref(), options)
    };
    match ask().await {
        Err(Failure::ErrorResponse(error)) if lists_our_version(&error) => ask().await,
        answer => answer,
    }
}

async fn send_initialize(
    peer: &Peer,
    introduction: &Introduction,
) -> Result<(ProtocolVersion, ServerDescription), Failure> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct InitializeResult {
        protocol_version: Value,
        #[serde(default)]
        capabilities: Option<Value>,
        #[serde(default)]
        server_info: Option<Value>,
        #[serde(default)]
        instructions: Option<Value>,
    }
    let params = RawJson::from_value(&json!({
        "protocolVersion": ProtocolVersion::NEWEST_OLD.as_str(),
        "capabilities": introduction.old_capabilities(),
        "clientInfo": introduction.info,
    }));
    let params = params.map_err(|error| Failure::Protocol(error.to_string().into()))?;
    let options = PeerCallOptions { silent: true, ..PeerCallOptions::default() };
    let answer = peer.call("initialize", Some(&params), options).await?;
    let answer: InitializeResult = answer.decode()?;
    let version = answer.protocol_version.as_str().and_then(ProtocolVersion::parse_old).ok_or_else(|| {
        let offered = answer.protocol_version.to_string();
        Failure::Protocol(
            format!(
                "it speaks version {}, which is not supported",
                mcparley_model::text::display_line(&offered)
            )
            .into(),
        )
    })?;
    let instructions = answer.instructions.and_then(|text| text.as_str().map(str::to_owned));
    Ok((version, ServerDescription::new(answer.server_info.as_ref(), answer.capabilities, instructions)))
}

#[cfg(test)]
mod tests;
