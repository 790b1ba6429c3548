//! Puts a host together.

use std::sync::Arc;

use mcparley_model::name::ServerName;
use mcparley_wire::peer::Handler;
use tokio::sync::broadcast;

use super::parts::HostParts;
use super::starter::Starter;
use super::{Host, HostInner};
use crate::audit::{Audit, Keeper};
use crate::call::{Approver, Classifier, NobodyToAsk};
use crate::chance;
use crate::connect::Surroundings;
use crate::elicit::Elicitor;
use crate::hooks::{HookRunner, Hooks};
use crate::organisation::Organisation;
use crate::own_server::{self, OwnServer};
use crate::paths::Paths;
use crate::reload::Sources;
use crate::results::{ResultStore, Results};
use crate::sample::Sampler;
use crate::sign_in::{IdentitySettings, PageOpener};
use crate::sources::{Earlier, Loaded, NoConnectors, RunOptions, load_again};

/// How many denied calls wait for a slow listener before the oldest are lost.
const DENIED: usize = 64;

/// Which servers are reached when the host starts. The others are reached when they are needed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Start {
    /// Those of which nothing is remembered, and those whose entries say `required` or `alwaysLoad` (L12).
    #[default]
    AsNeeded,
    /// The same, but none except these.
    Among(Vec<ServerName>),
    /// All that may run.
    All,
    /// None.
    OnDemand,
    /// These.
    Only(Vec<ServerName>),
}

/// A host that is being put together.
pub struct HostBuilder {
    pub(super) paths: Paths,
    pub(super) loaded: Loaded,
    pub(super) start: Start,
    pub(super) skips_failures: bool,
    approver: Arc<dyn Approver>,
    classifier: Option<Arc<dyn Classifier>>,
    pub(super) inside: Vec<(String, Arc<dyn Handler>)>,
    pub(super) bare: Vec<ServerName>,
    own_server: bool,
    pub(super) offers_own_server: bool,
    /// What the configuration was read with, so that it can be read again.
    run_options: Option<(RunOptions, Earlier)>,
    watches: bool,
    organisation: Option<Organisation>,
    page_opener: Option<Arc<dyn PageOpener>>,
    identity: Option<IdentitySettings>,
    pub(super) elicitor: Option<Arc<dyn Elicitor>>,
    /// Whether the roots are told later.
    client_roots: bool,
    pub(super) sampler: Option<Arc<dyn Sampler>>,
    pub(super) hooks: Vec<Arc<dyn Hooks>>,
    session_hooks: bool,
    pub(super) results: Option<Arc<Results>>,
    door: String,
}

impl Host {
    /// Reads the configuration and begins to put a host together. It follows the files when they change (C13).
    #[must_use]
    pub fn builder(paths: &Paths, run_options: &RunOptions) -> HostBuilder {
        let mut earlier = Earlier::default();
        let loaded = load_again(paths, run_options, &NoConnectors, &mut earlier);
        HostBuilder {
            run_options: Some((run_options.clone(), earlier)),
            watches: true,
            ..HostBuilder::new(paths, loaded)
        }
    }
}

impl HostBuilder {
    /// Begins with a configuration that was read before, and stays with it.
    #[must_use]
    pub fn new(paths: &Paths, loaded: Loaded) -> Self {
        Self {
            paths: paths.clone(),
            loaded,
            start: Start::default(),
            skips_failures: false,
            approver: Arc::new(NobodyToAsk),
            classifier: None,
            inside: Vec::new(),
            bare: Vec::new(),
            own_server: true,
            offers_own_server: false,
            run_options: None,
            watches: false,
            organisation: None,
            page_opener: None,
            identity: None,
            elicitor: None,
            client_roots: false,
            sampler: None,
            hooks: Vec::new(),
            session_hooks: true,
            results: Some(Arc::new(Results::of(paths))),
            door: "program".to_owned(),
        }
    }

    /// Reads the files again only when [`Host::reload`] is asked for.
    #[must_use]
    pub fn without_watching(mut self) -> Self {
        self.watches = false;
        self
    }

    /// Which servers to reach at once; [`Start::AsNeeded`] unless said otherwise.
    #[must_use]
    pub fn start_with(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// Leaves servers that failed lately alone until one is called, and tells their failures at once: for a host that lives
    /// for one command. Others try them in the background, and nobody waits for them.
    #[must_use]
    pub fn skip_known_failures(mut self) -> Self {
        self.skips_failures = true;
        self
    }

    /// Who is asked for permissions; nobody unless said otherwise, and nobody means no.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.approver = Arc::new(approver);
        self
    }

    /// Who decides in mode `auto`; the command of the settings unless said otherwise, and without one
    /// [`crate::ByHistory`] (P2).
    #[must_use]
    pub fn classifier(mut self, classifier: impl Classifier) -> Self {
        self.classifier = Some(Arc::new(classifier));
        self
    }

    /// Who answers what servers ask a person; nobody unless said otherwise, and nobody means no. Servers are told that
    /// they can ask only if somebody is there (X5).
    #[must_use]
    pub fn elicitor(mut self, elicitor: impl Elicitor) -> Self {
        self.elicitor = Some(Arc::new(elicitor));
        self
    }

    /// Offers servers no roots but those of a client, which [`Host::set_client_roots`] tells (X6).
    #[must_use]
    pub fn client_roots(mut self) -> Self {
        self.client_roots = true;
        self
    }

    /// Who has a model that servers may ask; nobody unless said otherwise, and nobody means no. Servers are told that they
    /// can ask only if somebody is there (X6).
    #[must_use]
    pub fn sampler(mut self, sampler: impl Sampler) -> Self {
        self.sampler = Some(Arc::new(sampler));
        self
    }

    /// Adds hooks of this program's own, beside those that settings configure (P5).
    #[must_use]
    pub fn hooks(mut self, hooks: impl Hooks) -> Self {
        self.hooks.push(Arc::new(hooks));
        self
    }

    /// What the record of calls says they come through: a program, a command line, a gateway (H36).
    #[must_use]
    pub fn door(mut self, door: &str) -> Self {
        self.door = door.to_owned();
        self
    }

    /// Leaves out the hooks for the start of a session: this host lives for one call or two.
    #[must_use]
    pub fn without_session_hooks(mut self) -> Self {
        self.session_hooks = false;
        self
    }

    /// Adds a server that lives inside this program: a handler that answers MCP's requests (T5).
    #[must_use]
    pub fn server(mut self, name: &str, server: Arc<dyn Handler>) -> Self {
        self.inside.push((name.to_owned(), server));
        self
    }

    /// Shows a server's tools under their own names, without a prefix, where these are free (N3).
    #[must_use]
    pub fn no_prefix(mut self, server: &str) -> Self {
        self.bare.push(ServerName::new(server));
        self
    }

    /// Whose connectors are reached; nobody's unless said otherwise. A host that reads its configuration itself asks
    /// for them in the background and adds them when they are there (C1).
    #[must_use]
    pub fn organisation(mut self, organisation: Option<Organisation>) -> Self {
        self.organisation = organisation;
        self
    }

    /// Who shows people the pages they sign in on; nobody unless said otherwise, and then whoever asks is told the
    /// address. With somebody there, a call that needs more rights asks for them at once (K4).
    #[must_use]
    pub fn page_opener(mut self, opener: impl PageOpener) -> Self {
        self.page_opener = Some(Arc::new(opener));
        self
    }

    /// Who knows the person, for servers whose entries say `xaa`; whom the settings name unless said otherwise (A6).
    #[must_use]
    pub fn identity(mut self, settings: Option<IdentitySettings>) -> Self {
        self.identity = settings;
        self
    }

    /// Where results are kept that are too long for a model; in [`Paths::results`] unless said otherwise.
    #[must_use]
    pub fn result_store(mut self, store: impl ResultStore) -> Self {
        self.results = Some(Arc::new(Results::in_store(Arc::new(store))));
        self
    }

    /// Hands every result over whole, however long: for people and programs, whose window has no end. `ReadResult` is not
    /// offered then.
    #[must_use]
    pub fn whole_results(mut self) -> Self {
        self.results = None;
        self
    }

    /// Leaves out the built-in server `mcparley`, through which a model can look at the host itself.
    #[must_use]
    pub fn without_own_server(mut self) -> Self {
        self.own_server = false;
        self
    }

    /// Shows a model the tools of the built-in server `mcparley` too. Otherwise they can be called by name, and stand in no
    /// [`crate::Offer`] (N9).
    #[must_use]
    pub fn offer_own_server(mut self) -> Self {
        self.offers_own_server = true;
        self
    }

    /// Starts the host. Must be called inside a `tokio` runtime with I/O and time.
    #[must_use]
    pub fn start(mut self) -> Host {
        let own = self.add_own_server();
        let identity = self.identity.or_else(|| self.loaded.identity());
        let session = chance::id();
        let audit = self.loaded.audit_file(&self.paths).map(|path| {
            Arc::new(Audit::start(path, Keeper { session: session.clone(), door: self.door.clone() }))
        });
        let board = HookRunner::new(Arc::new(self.paths.clone()), session, self.hooks);
        board.put(&self.loaded);
        let board = Arc::new(board);
        let surroundings = Surroundings::new(&self.loaded.env, &self.paths)
            .with_inside(self.inside.clone())
            .with_organisation(self.organisation.clone())
            .with_identity(identity)
            .with_elicitor(self.elicitor)
            .awaiting_roots(self.client_roots)
            .with_sampler(self.sampler)
            .with_hooks(Arc::clone(&board))
            .with_pin(self.loaded.settings.pins.in_force())
            .heeding();
        let starter = Arc::new(Starter::new(surroundings.clone(), self.start, self.skips_failures));
        let parts = HostParts {
            approver: self.approver,
            hooks: Arc::clone(&board),
            classifier: self.classifier,
            audit,
            page_opener: self.page_opener,
            inside: self.inside.iter().map(|(name, _)| name.clone()).collect(),
            own_server: own.is_some(),
            offers_own_server: self.offers_own_server,
            results: self.results,
            bare: self.bare,
            sources: self
                .run_options
                .map(|(run_options, earlier)| Sources::new(self.paths, run_options, earlier)),
            changes: Arc::clone(&starter.changes),
            events: starter.events.clone(),
            denied: broadcast::channel(DENIED).0,
        };
        let roster = parts.first(self.loaded, starter);
        let host = Host { inner: Arc::new(HostInner::new(parts, roster, None)) };
        if let Some(own) = own {
            own.show(Arc::downgrade(&host.inner));
        }
        if self.session_hooks {
            host.keep_going(board.begin());
        }
        if self.watches {
            host.follow_files();
        }
        host.tidy_results();
        // One that was given its configuration ready-made was given its connectors too.
        if let Some(organisation) = self.organisation.filter(|_| host.sources().is_some()) {
            host.follow_connectors(organisation, surroundings);
        }
        host
    }

    /// Adds the built-in server, unless a configured one has its name.
    fn add_own_server(&mut self) -> Option<Arc<OwnServer>> {
        if !self.has_own_server() {
            return None;
        }
        let own = Arc::new(OwnServer::new(self.offers_own_server));
        self.inside.push((own_server::NAME.to_owned(), Arc::<OwnServer>::clone(&own)));
        Some(own)
    }

    /// Whether the built-in server is wanted, and no configured one has its name.
    pub(super) fn has_own_server(&self) -> bool {
        let name = own_server::NAME;
        let is_taken =
            !self.loaded.plan.named(name).is_empty() || self.inside.iter().any(|(it, _)| it == name);
        self.own_server && !is_taken
    }
}

impl std::fmt::Debug for HostBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostBuilder").field("start", &self.start).finish_non_exhaustive()
    }
}
