//! Builds a host from its configuration and the handlers of the embedding program.

use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::name::ServerName;
use mcparley_wire::peer::Handler;
use tokio::sync::broadcast;

use crate::audit::{AuditLog, AuditSource};
use crate::hooks::{HookRunner, Hooks};
use crate::host::Sources;
use crate::host::{
    BuiltInFactory, BuiltInServer, CallStatistics, ConnectionStarter, Host, HostInner, HostParts,
};
use crate::in_process::InProcessServer;
use crate::inspection_server;
use crate::page_opener::PageOpener;
use crate::permission::{Approver, Classifier, DenyingApprover};
use crate::reload;
use crate::search_vectors::SearchVectors;
use mcparley_config::{BUILT_IN_SERVER, LoadedConfig, Paths, RunOptions, StartPolicy, load_config};
use mcparley_pool::attach::DaemonLink;
use mcparley_pool::auth::IdentitySettings;
use mcparley_pool::client_offer::ClientOffer;
use mcparley_pool::connect::ConnectContext;
use mcparley_pool::elicit::Elicitor;
use mcparley_pool::hosted_server::HostedServer;
use mcparley_pool::organization::Organization;
use mcparley_pool::pool::Pool;
use mcparley_pool::roots::Roots;
use mcparley_pool::sample::Sampler;
use mcparley_pool::start_gate::StartGate;
use mcparley_pool::task::AbortOnDropTask;
use mcparley_results::{ResultLimiter, ResultStore};

/// The capacity of the channel of denied calls: a slow listener loses the oldest beyond it.
const DENIED: usize = 64;

/// The environment variable with which tools of in-process servers keep their own names, as in Claude Code.
const NO_PREFIX: &str = "CLAUDE_AGENT_SDK_MCP_NO_PREFIX";

/// Builder of a [`Host`].
pub struct HostBuilder {
    paths: Paths,
    loaded: LoadedConfig,
    start: StartPolicy,
    skips_failures: bool,
    approver: Arc<dyn Approver>,
    classifier: Option<Arc<dyn Classifier>>,
    in_process_servers: Vec<(String, Arc<dyn Handler>)>,
    unprefixed: Vec<ServerName>,
    own_server: bool,
    built_in: BuiltInFactory,
    /// The options that the configuration was read with, so that a reload can use them again.
    run_options: Option<RunOptions>,
    watches: bool,
    organization: Option<Organization>,
    page_opener: Option<Arc<dyn PageOpener>>,
    identity: Option<IdentitySettings>,
    elicitor: Option<Arc<dyn Elicitor>>,
    /// Whether the roots come later, from a client.
    client_roots: bool,
    sampler: Option<Arc<dyn Sampler>>,
    offer: Option<ClientOffer>,
    hooks: Vec<Arc<dyn Hooks>>,
    session_hooks: bool,
    counts_calls: bool,
    results: Option<Arc<ResultLimiter>>,
    door: String,
    pool: Option<Pool>,
    daemon: Option<DaemonLink>,
    hosted: Option<Arc<HostedServer>>,
}

impl Host {
    /// Reads the configuration and returns a builder. The host reloads when the configuration files change.
    #[must_use]
    pub fn builder(paths: &Paths, run_options: &RunOptions) -> HostBuilder {
        HostBuilder::new(paths, load_config(paths, run_options)).watch_files(run_options)
    }
}

impl HostBuilder {
    /// Creates a builder from a configuration that was read before. Its host never reloads.
    #[must_use]
    pub fn new(paths: &Paths, loaded: LoadedConfig) -> Self {
        Self {
            paths: paths.clone(),
            loaded,
            start: StartPolicy::default(),
            skips_failures: false,
            approver: Arc::new(DenyingApprover),
            classifier: None,
            in_process_servers: Vec::new(),
            unprefixed: Vec::new(),
            own_server: true,
            built_in: BuiltInFactory { make: inspection_server::create_built_in_server, is_offered: false },
            run_options: None,
            watches: false,
            organization: None,
            page_opener: None,
            identity: None,
            elicitor: None,
            client_roots: false,
            sampler: None,
            offer: None,
            hooks: Vec::new(),
            session_hooks: true,
            counts_calls: false,
            results: Some(Arc::new(ResultLimiter::with_folder(paths.results.as_deref()))),
            door: "program".to_owned(),
            pool: None,
            daemon: None,
            hosted: None,
        }
    }

    /// Reloads when the configuration files change, with these options.
    #[must_use]
    pub fn watch_files(mut self, run_options: &RunOptions) -> Self {
        self.run_options = Some(run_options.clone());
        self.watches = true;
        self
    }

    /// Disables the file watcher: the files are read again only by [`Host::reload`].
    #[must_use]
    pub fn without_file_watcher(mut self) -> Self {
        self.watches = false;
        self
    }

    /// Sets the servers that are connected at start; the default is [`StartPolicy::AsNeeded`].
    #[must_use]
    pub fn start_with(mut self, start: StartPolicy) -> Self {
        self.start = start;
        self
    }

    /// Does not connect servers that failed recently until one is called, and reports their known failures
    /// at once: for a host that lives for one command. Other hosts retry such servers in the background.
    #[must_use]
    pub fn skip_known_failures(mut self) -> Self {
        self.skips_failures = true;
        self
    }

    /// Sets the approver, which is asked for permissions. Without one, every question is denied.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.approver = Arc::new(approver);
        self
    }

    /// Sets the classifier that decides in mode `auto`. The default is the command in the settings, or
    /// [`crate::permission::HistoryClassifier`] without one.
    #[must_use]
    pub fn classifier(mut self, classifier: impl Classifier) -> Self {
        self.classifier = Some(Arc::new(classifier));
        self
    }

    /// Sets the elicitor, which answers elicitation requests of servers. Without one, such requests are
    /// declined, and the elicitation capability is not declared to servers.
    #[must_use]
    pub fn elicitor(mut self, elicitor: impl Elicitor) -> Self {
        self.elicitor = Some(Arc::new(elicitor));
        self
    }

    /// Offers servers only the roots of a client, which [`Host::set_client_roots`] sets later.
    #[must_use]
    pub fn client_roots_only(mut self) -> Self {
        self.client_roots = true;
        self
    }

    /// Sets the sampler, whose model servers may use. Without one, sampling requests are declined, and the
    /// sampling capability is not declared to servers.
    #[must_use]
    pub fn sampler(mut self, sampler: impl Sampler) -> Self {
        self.sampler = Some(Arc::new(sampler));
        self
    }

    /// Sets the capabilities of the client that this host serves. Servers are offered those of them that have
    /// a handler.
    #[must_use]
    pub fn client_offer(mut self, offer: ClientOffer) -> Self {
        self.offer = Some(offer);
        self
    }

    /// Adds hooks of the embedding program, beside those in the settings.
    #[must_use]
    pub fn hooks(mut self, hooks: impl Hooks) -> Self {
        self.hooks.push(Arc::new(hooks));
        self
    }

    /// Sets the entry point that the audit log records for calls: a program, a command line, a gateway.
    #[must_use]
    pub fn entry_point(mut self, door: &str) -> Self {
        self.door = door.to_owned();
        self
    }

    /// Skips the hooks for the start of a session: this host lives for one or two calls.
    #[must_use]
    pub fn without_session_hooks(mut self) -> Self {
        self.session_hooks = false;
        self
    }

    /// Counts calls, for a program that shows them: [`Host::running_calls`], [`Host::call_counts`].
    #[must_use]
    pub fn count_calls(mut self) -> Self {
        self.counts_calls = true;
        self
    }

    /// Adds a server inside this program. It needs no entry in a configuration file.
    #[must_use]
    pub fn in_process_server(self, server: InProcessServer) -> Self {
        let name = server.name().to_owned();
        self.in_process_handler(&name, Arc::new(server))
    }

    /// Adds a server inside this program whose MCP requests are answered by the given handler; an example is in
    /// [`protocol`](crate::protocol).
    #[must_use]
    pub fn in_process_handler(mut self, name: &str, handler: Arc<dyn Handler>) -> Self {
        self.in_process_servers.push((name.to_owned(), handler));
        self
    }

    /// Shows a server's tools under their own names, without a prefix, where these names are free.
    #[must_use]
    pub fn without_prefix(mut self, server: &str) -> Self {
        self.unprefixed.push(ServerName::new(server));
        self
    }

    /// Sets the organization whose connectors are used; the default is none. A host that reads its
    /// configuration itself fetches them in the background and adds them when they arrive.
    #[must_use]
    pub fn organization(mut self, organization: Option<Organization>) -> Self {
        self.organization = organization;
        self
    }

    /// Sets the page opener, which shows sign-in pages to the user. Without one, callers are given the
    /// address instead. With one, a call that needs more OAuth scopes asks the user for them at once.
    #[must_use]
    pub fn page_opener(mut self, opener: impl PageOpener) -> Self {
        self.page_opener = Some(Arc::new(opener));
        self
    }

    /// Sets the identity provider for servers whose entries say `xaa`; the default is the one in the
    /// settings.
    #[must_use]
    pub fn identity_settings(mut self, settings: Option<IdentitySettings>) -> Self {
        self.identity = settings;
        self
    }

    /// Sets the store of results that are too long for a model; the default is the folder
    /// [`Paths::results`].
    #[must_use]
    pub fn result_store(mut self, store: impl ResultStore) -> Self {
        self.results = Some(Arc::new(ResultLimiter::with_store(Arc::new(store))));
        self
    }

    /// Hides the files of stored results from callers, which may be on other machines: they read the results by
    /// handle. To be set after [`HostBuilder::result_store`].
    #[must_use]
    pub fn hide_result_paths(mut self) -> Self {
        self.results = self.results.map(|results| Arc::new(results.without_paths()));
        self
    }

    /// Returns every result whole, however long: for users and programs, which have no context window to
    /// fill. The tool `ReadResult` is not offered then.
    #[must_use]
    pub fn without_result_limit(mut self) -> Self {
        self.results = None;
        self
    }

    /// Leaves out the built-in server `mcparley`, through which a model can inspect the host itself.
    #[must_use]
    pub fn without_built_in_server(mut self) -> Self {
        self.own_server = false;
        self
    }

    /// Shows the tools of the built-in server `mcparley` to models. By default they can be called by name,
    /// and are in no [`mcparley_catalog::ModelOffer`].
    #[must_use]
    pub fn offer_built_in_server(mut self) -> Self {
        self.built_in.is_offered = true;
        self
    }

    /// Shares connections with other hosts of this program: a server that would see the same client from
    /// either host runs once. A connection ends with the last host that uses it. Roots that are set later
    /// apply to servers that this host started.
    #[must_use]
    pub fn pool(mut self, pool: &Pool) -> Self {
        self.pool = Some(pool.clone());
        self
    }

    /// Uses local servers that the daemon runs, in place of starting them; `None` starts all of them here.
    #[must_use]
    pub fn daemon(mut self, daemon: Option<DaemonLink>) -> Self {
        self.daemon = daemon;
        self
    }

    /// Runs the local server of this host for other processes: it is started with their launch, and is not
    /// restarted when it ends.
    #[must_use]
    pub fn hosted_server(mut self, server: Arc<HostedServer>) -> Self {
        self.hosted = Some(server);
        self
    }

    /// Searches tools also by the meaning of words, with the static word vectors in this folder of model2vec:
    /// `model.safetensors` and `tokenizer.json`. The default is that of the configuration. They are read when the
    /// search is prepared; [`Host::search_vectors_error`] says why they cannot be used.
    #[must_use]
    pub fn search_vectors(mut self, folder: impl Into<PathBuf>) -> Self {
        self.loaded.search_vectors = Some(folder.into());
        self
    }

    /// Starts the host. Must be called inside a `tokio` runtime with I/O and time.
    #[must_use]
    pub fn start(mut self) -> Host {
        if matches!(self.loaded.env.get(NO_PREFIX), Some("1" | "true")) {
            self.unprefixed.extend(self.in_process_servers.iter().map(|(name, _)| ServerName::new(name)));
        }
        let built_in = self.add_built_in();
        let session = mcparley_platform::random::random_id();
        let audit = self.loaded.audit_file(&self.paths).map(|path| {
            Arc::new(AuditLog::start(path, AuditSource { session: session.clone(), door: self.door.clone() }))
        });
        let hook_runner =
            HookRunner::new(Arc::new(self.paths.clone()), session, std::mem::take(&mut self.hooks));
        hook_runner.replace_configured(&self.loaded);
        let hook_runner = Arc::new(hook_runner);
        let context = self.connect_context(&hook_runner);
        let pool = self.pool.unwrap_or_else(|| Pool::new(StartGate::from_env(&context.dialer.env)));
        let starter = ConnectionStarter::new(
            context.clone(),
            pool,
            built_in.as_deref(),
            self.start,
            self.skips_failures,
        );
        let starter = Arc::new(starter.with_bare_names(!self.unprefixed.is_empty()));
        let parts = HostParts {
            approver: self.approver,
            hooks: Arc::clone(&hook_runner),
            classifier: self.classifier,
            audit,
            page_opener: self.page_opener,
            in_process_servers: self.in_process_servers.iter().map(|(name, _)| name.clone()).collect(),
            built_in: built_in.as_ref().map(|_| self.built_in),
            results: self.results,
            unprefixed: self.unprefixed,
            sources: self.run_options.map(|run_options| Sources::new(self.paths, run_options)),
            changes: Arc::clone(&starter.changes),
            events: starter.events.clone(),
            denied: broadcast::channel(DENIED).0,
            calls: Arc::new(CallStatistics::new(self.counts_calls)),
            vectors: self.loaded.search_vectors.clone().map(SearchVectors::new).map(Arc::new),
        };
        let roster = parts.initial_roster(self.loaded, starter);
        let inner = Arc::new(HostInner::new_root(parts, roster));
        if let Some(built_in) = built_in {
            built_in.attach_host(Arc::downgrade(&inner));
        }
        let host = Host::from_inner(inner);
        if self.session_hooks {
            host.attach_task(hook_runner.start_session_hooks());
        }
        if self.watches {
            spawn_file_watcher(&host);
        }
        host.remove_old_results();
        // A host that was given its configuration ready-made was given its connectors too.
        if let Some(organization) = self.organization.filter(|_| host.config_sources().is_some()) {
            spawn_connector_fetch(&host, organization, context);
        }
        host
    }

    /// The context that connections are opened with, including the handlers of this host.
    fn connect_context(&mut self, hooks: &Arc<HookRunner>) -> ConnectContext {
        let identity =
            self.identity.take().or_else(|| self.loaded.identity_provider().map(IdentitySettings::from));
        let mut context = ConnectContext::new(&self.loaded.env, &self.paths)
            .with_in_process_servers(self.in_process_servers.clone())
            .with_organization(self.organization.clone())
            .with_identity(identity)
            .with_pin(self.loaded.settings.pins.effective_pin())
            .with_sign_in_cache();
        context.services.elicitor = self.elicitor.take();
        context.services.sampler = self.sampler.take();
        context.services.offer = self.offer;
        context.dialer.daemon = self.daemon.take();
        context.dialer.hosted = self.hosted.take();
        context.services.hooks = Arc::<HookRunner>::clone(hooks);
        if self.client_roots {
            context.services.roots = Roots::awaiting_client();
        }
        context
    }

    /// Adds the built-in server, unless a configured server has its name.
    fn add_built_in(&mut self) -> Option<Arc<dyn BuiltInServer>> {
        let name = BUILT_IN_SERVER;
        let is_taken = !self.loaded.plan.servers_by_name(name).is_empty()
            || self.in_process_servers.iter().any(|(it, _)| it == name);
        if !self.own_server || is_taken {
            return None;
        }
        let server = self.built_in.create_server();
        self.in_process_servers.push((name.to_owned(), server.handler()));
        Some(server)
    }
}

impl std::fmt::Debug for HostBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostBuilder").field("start", &self.start).finish_non_exhaustive()
    }
}

/// Watches the configuration files for as long as the host lives.
fn spawn_file_watcher(host: &Host) {
    let reconnects = host.roster().paths().reconnects.clone();
    let watching = reload::watch_config_files(host.downgrade(), &host.loaded_config(), reconnects);
    host.attach_task(Some(AbortOnDropTask::start(watching)));
}

/// Fetches the organization's connectors in the background.
fn spawn_connector_fetch(host: &Host, organization: Organization, context: ConnectContext) {
    let asking = reload::fetch_connectors(host.downgrade(), organization, context);
    host.attach_task(Some(AbortOnDropTask::start(asking)));
}
