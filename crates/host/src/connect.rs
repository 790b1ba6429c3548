//! From a planned server to a conversation with it.
//!
//! Local servers, those behind a URL (Streamable HTTP, the older transport, WebSocket), and those inside this program. Who
//! keeps a connection alive, and for whom, is decided by [`crate::connection`].

mod arrival;
mod era;
mod error;
mod link;
mod needs_auth;
mod remember;
mod runner;
mod sign_in;
mod started;
mod trace;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcparley_auth::Accounts;
use mcparley_model::config::{Era, Ide, Remote, RootsPolicy, ServerConfig, Transport};
use mcparley_model::expand::Env;
use mcparley_model::hook::Event;
use mcparley_model::limits::{
    CONNECT_TIME, DOWNLOAD_TIME, MESSAGE_BYTES, MESSAGE_BYTES_LEAST, MESSAGE_BYTES_MOST,
};
use mcparley_model::name::ServerName;
use mcparley_model::permission::Pin;
use mcparley_model::text::Untrusted;
use mcparley_platform::process::Launch;
use mcparley_wire::handshake::{self, Connect, Connected, Introduction, Step};
use mcparley_wire::peer::{Boxed, Handler, Peer};
use mcparley_wire::transport::http::{Http, HttpTarget, Network, NetworkSettings};
use mcparley_wire::transport::memory;
use mcparley_wire::transport::sse::Sse;
use mcparley_wire::transport::stdio::{Stderr, Stdio};
use mcparley_wire::transport::ws::Ws;
use mcparley_wire::{Failure, RawJson};
use serde_json::{Value, json};
use tokio::time::Instant;
use url::Url;

use crate::catalog::Cache;
use crate::elicit::Elicitor;
use crate::hooks::HookRunner;
use crate::launch::launch_below;
use crate::log::{Level, Messages};
use crate::organisation::Organisation;
use crate::paths::Paths;
use crate::redact::Redactor;
use crate::roots::{Roots, ServerRoots};
use crate::sample::Sampler;
use crate::trust::Trust;
use era::Eras;

pub(crate) use arrival::Arrival;
pub use error::ConnectError;
pub use link::Link;
pub(crate) use needs_auth::NeedsAuth;
pub(crate) use started::{Downloader, StartedProcess};
pub use trace::{Passed, Stage};
pub(crate) use trace::{Trace, milliseconds};

/// The header with the token of an editor's lock file.
const IDE_TOKEN: &str = "X-Claude-Code-Ide-Authorization";

/// How long an editor may take to hear who we are; nothing depends on it.
const INTRODUCING: Duration = Duration::from_secs(1);

/// What servers are reached with: everything a connection needs besides the server's own entry. Cheap to clone.
#[derive(Clone)]
pub struct Surroundings {
    /// The variables servers may see.
    pub env: Env,
    /// Where everything is.
    pub paths: Arc<Paths>,
    /// How long connecting may take.
    pub limit: Duration,
    /// How long it may take in all where a package runner still downloads the server; nothing where a person has set the
    /// limit.
    pub download_limit: Option<Duration>,
    /// The servers inside this program, by the name an entry of type `sdk` gives.
    inside: Arc<HashMap<String, Arc<dyn Handler>>>,
    eras: Arc<Eras>,
    cache: Arc<Cache>,
    /// What is accepted about the tools of servers.
    trust: Arc<Trust>,
    /// Whose connectors are reached, if anybody's.
    organisation: Option<Organisation>,
    /// Who we are to servers behind a URL.
    accounts: Accounts,
    /// The server these are for, once that is known.
    server: Option<ServerName>,
    /// Which servers want a sign-in, for those who do not want to ask them again (A4).
    needs_auth: Option<Arc<NeedsAuth>>,
    /// Who answers what servers ask a person, if anybody does.
    elicitor: Option<Arc<dyn Elicitor>>,
    /// Who has a model that servers may ask, if anybody does.
    sampler: Option<Arc<dyn Sampler>>,
    /// The roots that servers are offered.
    roots: Roots,
    /// The hooks, some of which may answer too.
    hooks: Arc<HookRunner>,
    /// How much servers are to say in their logs, and who hears it.
    messages: Messages,
    /// Proxies and certificates; shared, so that they are read once, and only when a remote server is reached.
    network: Network,
}

impl Surroundings {
    /// The usual limit, unless `MCP_TIMEOUT` says otherwise.
    #[must_use]
    pub fn new(env: &Env, paths: &Paths) -> Self {
        let set_limit = number(env, "MCP_TIMEOUT").map(Duration::from_millis);
        let download_limit = set_limit.is_none().then_some(DOWNLOAD_TIME);
        let limit = set_limit.unwrap_or(CONNECT_TIME);
        let paths = Arc::new(paths.clone());
        let network = Network::new(NetworkSettings::from_lookup(|name| env.get(name).map(str::to_owned)));
        Self {
            env: env.clone(),
            cache: Arc::new(Cache::new(Arc::clone(&paths), env.clone())),
            trust: Arc::new(Trust::new(Arc::clone(&paths))),
            limit,
            download_limit,
            inside: Arc::default(),
            eras: Arc::default(),
            organisation: None,
            accounts: sign_in::accounts(env, &paths, &network),
            server: None,
            needs_auth: None,
            elicitor: None,
            sampler: None,
            roots: Roots::of(&paths),
            hooks: Arc::new(HookRunner::new(Arc::clone(&paths), String::new(), Vec::new())),
            messages: Messages::default(),
            paths,
            network,
        }
    }

    /// The same under other variables; what was found out about servers stays known.
    pub(crate) fn under(&self, env: &Env) -> Self {
        let (inside, eras) = (Arc::clone(&self.inside), Arc::clone(&self.eras));
        let (accounts, needs_auth) = (self.accounts.clone(), self.needs_auth.clone());
        let (organisation, elicitor) = (self.organisation.clone(), self.elicitor.clone());
        let (sampler, roots, trust) = (self.sampler.clone(), self.roots.clone(), Arc::clone(&self.trust));
        let (hooks, messages) = (Arc::clone(&self.hooks), self.messages.clone());
        let new = Self::new(env, &self.paths);
        Self {
            inside,
            eras,
            trust,
            organisation,
            elicitor,
            sampler,
            roots,
            hooks,
            messages,
            accounts,
            needs_auth,
            ..new
        }
    }

    /// The same with these servers inside this program.
    #[must_use]
    pub fn with_inside(mut self, servers: impl IntoIterator<Item = (String, Arc<dyn Handler>)>) -> Self {
        self.inside = Arc::new(servers.into_iter().collect());
        self
    }

    /// The same with the connectors of this organisation.
    #[must_use]
    pub fn with_organisation(mut self, organisation: Option<Organisation>) -> Self {
        self.organisation = organisation;
        self
    }

    /// The same for the server of this name.
    #[must_use]
    pub fn of_server(&self, name: &ServerName) -> Self {
        Self { server: Some(name.clone()), ..self.clone() }
    }

    /// The same where this is done about tools that have changed.
    #[must_use]
    pub fn with_pin(self, pin: Pin) -> Self {
        self.trust.follow(pin);
        self
    }

    pub(crate) fn trust(&self) -> &Arc<Trust> {
        &self.trust
    }

    /// The same with somebody who answers what servers ask a person.
    pub(crate) fn with_elicitor(mut self, elicitor: Option<Arc<dyn Elicitor>>) -> Self {
        self.elicitor = elicitor;
        self
    }

    pub(crate) fn elicitor(&self) -> Option<Arc<dyn Elicitor>> {
        self.elicitor.clone()
    }

    /// The same with somebody who has a model that servers may ask.
    pub(crate) fn with_sampler(mut self, sampler: Option<Arc<dyn Sampler>>) -> Self {
        self.sampler = sampler;
        self
    }

    pub(crate) fn sampler(&self) -> Option<Arc<dyn Sampler>> {
        self.sampler.clone()
    }

    pub(crate) fn roots(&self) -> &Roots {
        &self.roots
    }

    /// The same with roots that somebody tells later.
    pub(crate) fn awaiting_roots(self, is_so: bool) -> Self {
        if is_so { Self { roots: Roots::unknown(), ..self } } else { self }
    }

    /// The roots that the server of this entry is told.
    pub(crate) fn server_roots(&self, config: &ServerConfig) -> ServerRoots {
        ServerRoots::of(config, &self.roots, &self.paths)
    }

    /// The same with these hooks.
    pub(crate) fn with_hooks(mut self, hooks: Arc<HookRunner>) -> Self {
        self.hooks = hooks;
        self
    }

    pub(crate) fn hooks(&self) -> Arc<HookRunner> {
        Arc::clone(&self.hooks)
    }

    /// The same, but what its servers log is heard apart.
    pub(crate) fn heard_apart(mut self) -> Self {
        self.messages = self.messages.apart();
        self
    }

    pub(crate) fn messages(&self) -> &Messages {
        &self.messages
    }

    /// How much the server that these are for is to say in its log.
    pub(crate) fn log_level(&self) -> Option<Level> {
        self.server.clone().map(|server| self.messages.level_of(server))
    }

    /// How many bytes one message of a server may have.
    pub(crate) fn message_limit(&self) -> usize {
        let set =
            number(&self.env, "MCPARLEY_MAX_MESSAGE_BYTES").and_then(|bytes| usize::try_from(bytes).ok());
        set.map_or(MESSAGE_BYTES, |bytes| bytes.clamp(MESSAGE_BYTES_LEAST, MESSAGE_BYTES_MOST))
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    /// The same with one more server inside this program, or another one under the name of an earlier.
    pub(crate) fn with_one_inside(mut self, name: &str, server: Arc<dyn Handler>) -> Self {
        Arc::make_mut(&mut self.inside).insert(name.to_owned(), server);
        self
    }

    /// Reaches a server and agrees on a protocol with it, within `limit`.
    ///
    /// # Errors
    /// A [`ConnectError`]; for the transports that are not spoken yet [`Failure::Refused`].
    pub async fn connect(
        &self,
        config: &ServerConfig,
        handler: Arc<dyn Handler>,
        limit: Duration,
    ) -> Result<Connected<Link>, ConnectError> {
        self.connect_traced(config, handler, limit, &mut Trace::default()).await
    }

    /// The same, and what was tried is kept in `trace`.
    pub(crate) async fn connect_traced(
        &self,
        config: &ServerConfig,
        handler: Arc<dyn Handler>,
        limit: Duration,
        trace: &mut Trace,
    ) -> Result<Connected<Link>, ConnectError> {
        let (target, network) = (self.target(config)?, self.network.clone());
        let mut server = Server { target, network, handler, stderr: None, trace };
        let fixed = server.target.era(config);
        let era = fixed.unwrap_or_else(|| self.eras.of(config));
        let until = Instant::now() + limit;
        let introduction = self.introduction(config);
        let mut connected = handshake::connect(&mut server, era, &introduction, limit).await;
        if let Err(failure) = &connected
            && fixed.is_none()
            && self.eras.may_have_changed(config, era, failure)
        {
            // What was remembered does not hold any more: the server was replaced by one of the other era.
            let left = until.saturating_duration_since(Instant::now());
            connected = handshake::connect(&mut server, Era::Auto, &introduction, left).await;
        }
        self.eras.learn(config, connected.as_ref().ok().map(|connected| connected.session.spoken()));
        if let (Ok(connected), Transport::SseIde(_) | Transport::WsIde(_)) = (&connected, &config.transport) {
            introduce(connected.session.peer()).await;
        }
        connected.map_err(|failure| {
            let (redactor, said) = (Redactor::of(config), server.last_words());
            let stderr = Untrusted::new(redactor.redact(said.raw()));
            ConnectError::new(redactor.failure(failure), stderr)
        })
    }

    /// Whether a proxy stands on the way to `url`.
    pub(crate) fn is_proxied(&self, url: &Url) -> bool {
        self.network.is_proxied(url)
    }

    /// Who we are.
    fn introduction(&self, config: &ServerConfig) -> Introduction {
        Introduction {
            info: json!({ "name": "mcparley", "version": env!("CARGO_PKG_VERSION") }),
            capabilities: self.capabilities(config),
        }
    }

    /// The client capabilities: only what the host can really answer.
    fn capabilities(&self, config: &ServerConfig) -> Value {
        let mut capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        if config.roots != RootsPolicy::Withheld {
            capabilities["roots"] = json!({ "listChanged": true });
        }
        match (&self.elicitor, self.hooks.hears(Event::Elicitation)) {
            (Some(_), _) => capabilities["elicitation"] = json!({ "form": {}, "url": {} }),
            // A page is for a person, and there is none.
            (None, true) => capabilities["elicitation"] = json!({ "form": {} }),
            (None, false) => {}
        }
        if let Some(sampler) = &self.sampler {
            capabilities["sampling"] = if sampler.takes_tools() { json!({ "tools": {} }) } else { json!({}) };
        }
        capabilities
    }

    fn target(&self, config: &ServerConfig) -> Result<Target, ConnectError> {
        match &config.transport {
            Transport::Stdio(stdio) => {
                Ok(Target::Program(launch_below(config, stdio, &self.env, &self.paths)))
            }
            Transport::Http(remote) => Ok(Target::Address(self.address(config, remote))),
            Transport::Sse(remote) => Ok(Target::Legacy(self.address(config, remote))),
            Transport::Ws(remote) => Ok(Target::Socket(self.address(config, remote))),
            Transport::Sdk { name } => match self.inside.get(name) {
                Some(server) => Ok(Target::Inside(Arc::clone(server))),
                None => Err(ConnectError::refused(&format!("this program has no server `{name}` inside"))),
            },
            Transport::ClaudeAiProxy { url, id: _ } => self.connector(url).map(Target::Address),
            Transport::SseIde(ide) => editor(ide).map(Target::Legacy),
            Transport::WsIde(ide) => editor(ide).map(Target::Socket),
        }
    }

    fn address(&self, config: &ServerConfig, remote: &Remote) -> HttpTarget {
        let authorizer = self.authorizer(config, remote);
        HttpTarget { authorizer, ..HttpTarget::new(remote.url.expose().clone(), remote.headers.clone()) }
    }

    fn connector(&self, url: &Url) -> Result<HttpTarget, ConnectError> {
        match &self.organisation {
            Some(organisation) => {
                organisation.target(url).map_err(|error| ConnectError::refused(&error.to_string()))
            }
            None => Err(ConnectError::refused("no organisation is configured whose connectors can be used")),
        }
    }
}

impl std::fmt::Debug for Surroundings {
    /// No variables: they are the user's.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// An editor lets in whoever has the token of its lock file, and nobody without (H32).
fn editor(ide: &Ide) -> Result<HttpTarget, ConnectError> {
    let Ide { url, name: _, auth_token } = ide;
    let token = auth_token.clone().ok_or_else(|| ConnectError::refused("its `authToken` is missing"))?;
    Ok(HttpTarget::new(url.clone(), vec![(IDE_TOKEN.to_owned(), token)]))
}

/// Tells an editor which program has connected to it, so that it knows whose terminal that is.
async fn introduce(editor: &Peer) {
    let params = RawJson::of(&json!({ "pid": std::process::id() })).ok();
    let telling = editor.notify("ide_connected", params.as_ref());
    // One that does not listen, or is gone again, is noticed by whoever wants something of it.
    let _missed = tokio::time::timeout(INTRODUCING, telling).await;
}

/// A positive number in a variable; what is no such number does not count.
pub(crate) fn number(env: &Env, name: &str) -> Option<u64> {
    env.get(name).and_then(|text| text.trim().parse::<u64>().ok()).filter(|number| *number > 0)
}

/// A server that can be reached, and reached again.
struct Server<'t> {
    target: Target,
    network: Network,
    handler: Arc<dyn Handler>,
    /// Of the process started last.
    stderr: Option<Stderr>,
    trace: &'t mut Trace,
}

enum Target {
    Program(Launch),
    Address(HttpTarget),
    /// A server of 2024-11-05.
    Legacy(HttpTarget),
    /// A server behind a WebSocket.
    Socket(HttpTarget),
    Inside(Arc<dyn Handler>),
}

impl Target {
    /// The era to speak, where nothing is to be found out by probing.
    fn era(&self, config: &ServerConfig) -> Option<Era> {
        match (self, config.era) {
            // Its transport has no other.
            (Self::Legacy(_), _) => Some(Era::Old),
            // Who has a server of the new era there says so.
            (Self::Socket(_), Era::New) => Some(Era::New),
            (Self::Socket(_), Era::Old | Era::Auto) => Some(Era::Old),
            (Self::Program(_) | Self::Address(_) | Self::Inside(_), _) => None,
        }
    }
}

impl Server<'_> {
    fn last_words(&self) -> Untrusted {
        self.stderr.as_ref().map(|stderr| Untrusted::new(stderr.text())).unwrap_or_default()
    }

    async fn open_now(&mut self) -> Result<Link, Failure> {
        let handler = Arc::clone(&self.handler);
        match &self.target {
            Target::Program(launch) => {
                let server = Stdio::open(launch, handler).await?;
                self.stderr = Some(server.stderr());
                self.trace.strays = Some(server.stray_record());
                self.trace.process.set(&server);
                Ok(Link::Local(server))
            }
            Target::Address(target) => Http::open(target, &self.network, handler).map(Link::Remote),
            Target::Legacy(target) => Sse::open(target, &self.network, handler).await.map(Link::Legacy),
            Target::Socket(target) => Ws::open(target, &self.network, handler).await.map(Link::Socket),
            Target::Inside(server) => Ok(Link::Inside(memory::link(handler, Arc::clone(server)))),
        }
    }
}

impl Connect for Server<'_> {
    type Link = Link;

    fn open(&mut self) -> Boxed<'_, Result<Link, Failure>> {
        Box::pin(self.open_now())
    }

    fn open_legacy(&mut self) -> Boxed<'_, Result<Option<Link>, Failure>> {
        Box::pin(async {
            let Target::Address(target) = &self.target else { return Ok(None) };
            let found = Sse::probe(target, &self.network, Arc::clone(&self.handler)).await?;
            Ok(found.map(Link::Legacy))
        })
    }

    fn about_to(&mut self, step: Step) {
        self.trace.begin(step.into());
    }
}
