//! The host, the budget and the roots that all clients of a gateway share.

pub(crate) mod client_views;
mod common_tool_lists;
pub(crate) mod configured_views;
pub(crate) mod current_view;
pub(crate) mod log_levels;
pub(crate) mod parked_places;
pub(crate) mod principal_views;
pub(crate) mod roots;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use mcparley::catalog::Budget;
use mcparley::elicit::{Elicitation, ElicitationReply, Elicitor};
use mcparley::model::log_level::LogLevel;
use mcparley::pool::client_offer::ClientOffer;
use mcparley::pool::sample::{Sampler, SamplingRefusal, SamplingRequest, SamplingResult};
use mcparley::{BoxedFuture, CallContext, Host, HostBuilder};
use mcparley_cluster::InstanceId;
use mcparley_platform::random::random_number;
use mcparley_wire::gateway_path::begin_gateway;
use tokio::sync::watch;

use crate::cluster_link::ClusterLink;
use crate::durable_calls::DurableCalls;
use crate::gateway::client_views::ClientViews;
use crate::gateway::common_tool_lists::CommonToolLists;
use crate::gateway::current_view::ViewCache;
use crate::gateway::log_levels::ClientLogLevels;
use crate::gateway::parked_places::ParkedPlaces;
use crate::gateway::principal_views::PrincipalViews;
use crate::gateway::roots::ClientRoots;
use crate::mode::GatewayMode;
use crate::pending::{AnswerError, ListedCall, PendingQuestion, QuestionRegistry, TerminalAnswer};
use mcparley_cluster::Seal;

/// A host that is served to clients. Cheap to clone; all clones are one gateway.
#[derive(Clone, Debug)]
pub struct Gateway {
    pub(crate) host: Host,
    /// The host that receives the servers' log messages, if it is another one: an agent does not receive
    /// those of shared servers.
    pub(crate) log_host: Option<Host>,
    /// Whether the served host is the view of a principal, with its own sign-ins and log messages.
    pub(crate) has_principal_view: bool,
    /// The names that clients see, and the limits that apply.
    pub(crate) mode: Arc<GatewayMode>,
    /// The newest view.
    pub(crate) views: Arc<ViewCache>,
    /// The tool lists that clients share.
    pub(crate) tool_lists: Arc<CommonToolLists>,
    /// The token budget for tool definitions in a model's context.
    pub(crate) budget: Budget,
    /// The roots of the clients.
    pub(crate) roots: Arc<ClientRoots>,
    /// The log levels that the clients want.
    pub(crate) log_levels: Arc<ClientLogLevels>,
    /// The seal of values for clients, once one is needed.
    seal: Arc<OnceLock<Option<Arc<Seal>>>>,
    /// The process that makes calls of clients that may leave, if there is one.
    pub(crate) durable: Option<Arc<dyn DurableCalls>>,
    /// The link to the other gateways of the cluster.
    cluster: Arc<OnceLock<Arc<ClusterLink>>>,
    /// The number of this gateway outside of a cluster.
    number: u32,
    /// The number of clients.
    pub(crate) clients: Arc<AtomicUsize>,
    /// The gateways for clients with other capabilities, in transparent mode.
    client_views: Arc<ClientViews>,
    /// The gateways for principals with their own sign-ins.
    principals: Arc<PrincipalViews>,
    /// The places for calls that wait for their clients.
    pub(crate) parked: ParkedPlaces,
    /// The open questions to the users of the clients.
    pub(crate) pending: Arc<QuestionRegistry>,
    /// The name of the view that this gateway serves; the main gateway has none.
    pub(crate) name: Option<Arc<str>>,
}

impl Gateway {
    /// Serves a host that was started with [`Gateway::prepare_host`]. Tools beyond the budget are found by
    /// tool search.
    #[must_use]
    pub fn new(host: Host, budget: Budget) -> Self {
        let roots = Arc::new(ClientRoots::new(host.clone()));
        let (mode, views, log_levels) = (Arc::default(), Arc::default(), Arc::default());
        let (clients, pending, client_views) = (Arc::default(), Arc::default(), Arc::default());
        Self {
            host,
            log_host: None,
            has_principal_view: false,
            mode,
            views,
            tool_lists: Arc::default(),
            budget,
            roots,
            log_levels,
            seal: Arc::default(),
            durable: None,
            cluster: Arc::default(),
            number: u32::try_from(random_number() >> 32).unwrap_or_default(),
            clients,
            parked: ParkedPlaces::default(),
            pending,
            client_views,
            principals: Arc::default(),
            name: None,
        }
    }

    /// Sets the mode; the default is that of a local agent. In transparent mode no tool is deferred.
    #[must_use]
    pub fn with_mode(mut self, mode: GatewayMode) -> Self {
        if mode.is_transparent() {
            self.budget = Budget::without_limit();
        }
        self.mode = Arc::new(mode);
        (self.views, self.tool_lists) = (Arc::default(), Arc::default());
        self
    }

    /// Forwards the log messages of `host` to clients, where the served host is an agent of `host`.
    #[must_use]
    pub fn with_log_host(mut self, host: &Host) -> Self {
        self.log_host = Some(host.clone());
        self
    }

    /// Serves another host, such as an agent of this one, under a name of its own. Open questions, roots and log
    /// levels are those of the whole gateway.
    #[must_use]
    pub fn open_view(&self, name: &str, host: Host, mode: GatewayMode) -> Self {
        let (views, tool_lists, client_views) = (Arc::default(), Arc::default(), Arc::default());
        let principals = Arc::new(self.principals.with_same_settings());
        let view = Self { host, views, tool_lists, client_views, principals, ..self.clone() };
        Self { name: Some(Arc::from(name)), ..view }.with_mode(mode)
    }

    /// Lets clients call tools of local servers as durable tasks. To be set after the mode.
    #[must_use]
    pub fn with_durable_calls(mut self, durable: Arc<dyn DurableCalls>) -> Self {
        self.durable = Some(durable);
        let mode = GatewayMode { has_durable_calls: true, ..GatewayMode::clone(&self.mode) };
        self.with_mode(mode)
    }

    /// Seals values for clients with this seal, such as ids of tasks: they are valid as long as its key.
    #[must_use]
    pub fn with_seal(self, seal: Seal) -> Self {
        self.use_seal(Arc::new(seal));
        self
    }

    /// Prepares a host to be served: elicitation and sampling are declared to its servers, and only the
    /// clients' roots are offered. Each client answers for its own calls, so the host itself has no elicitor,
    /// sampler or roots.
    #[must_use]
    pub fn prepare_host(host: HostBuilder) -> HostBuilder {
        begin_gateway();
        Self::offer_questions(host).client_roots_only()
    }

    /// Declares elicitation and sampling to the servers of a host. Its calls bring their own handlers, such
    /// as a [`ListedCall`].
    #[must_use]
    pub fn offer_questions(host: HostBuilder) -> HostBuilder {
        let host = host.elicitor(CancelingElicitor).sampler(RefusingSampler);
        host.client_offer(ClientOffer::ALL)
    }

    /// The context of a call with questions that are only listed, for a caller that reads the list.
    #[must_use]
    pub fn listed_context(&self, call: ListedCall) -> CallContext {
        call.into_context(&self.pending)
    }

    /// Subscribes to changes of the open questions. The value is the number of changes.
    #[must_use]
    pub fn question_changes(&self) -> watch::Receiver<u64> {
        self.pending.subscribe_changes()
    }

    /// The open questions to the users of the clients, oldest first; their contents only if `with_details`.
    #[must_use]
    pub fn pending_questions(&self, with_details: bool) -> Vec<PendingQuestion> {
        self.pending.list_open(with_details)
    }

    /// Answers an open question in place of the client, which then gets the result of its call.
    ///
    /// # Errors
    /// When there is no such question any more, or the answer does not fit it.
    pub fn answer_question(&self, id: &str, answer: TerminalAnswer) -> Result<(), AnswerError> {
        self.pending.answer_question(id, answer)
    }

    /// Whether a question is one of this gateway, open or answered, by its id.
    #[must_use]
    pub fn owns_question(&self, id: &str) -> bool {
        id.split_once('-').is_some_and(|(name, _)| name == self.pending.gateway_name())
    }

    /// Seals values for clients with this seal. The first seal stays.
    pub fn use_seal(&self, seal: Arc<Seal>) {
        let _first = self.seal.set(Some(seal));
    }

    /// The seal of values for clients; without doors its key is in memory. `None` only if the system gives no
    /// random numbers.
    pub(crate) fn seal(&self) -> Option<&Seal> {
        self.seal.get_or_init(|| Seal::in_memory().ok().map(Arc::new)).as_deref()
    }

    /// Makes this gateway a member of a cluster. The first link stays.
    pub fn use_cluster(&self, link: Arc<ClusterLink>) {
        let _first = self.cluster.set(link);
    }

    /// The link to the other gateways, if there are any.
    #[must_use]
    pub fn cluster(&self) -> Option<&Arc<ClusterLink>> {
        self.cluster.get()
    }

    /// The number of this gateway: in its cluster, or else a random one.
    pub(crate) fn instance(&self) -> InstanceId {
        self.cluster().map_or(InstanceId(self.number), |link| link.instance())
    }

    /// The host that is served.
    #[must_use]
    pub fn served_host(&self) -> &Host {
        &self.host
    }

    /// The number of questions that wait for their user.
    #[must_use]
    pub fn count_open_questions(&self) -> usize {
        self.pending.count_open()
    }

    /// Tells the servers the log level.
    pub(crate) fn set_server_level(&self, level: LogLevel) {
        if self.has_principal_view {
            self.host.set_client_log_level(None, level);
        }
        match &self.log_host {
            None => self.host.set_client_log_level(None, level),
            Some(above) => {
                let servers = self.host.servers();
                servers.iter().for_each(|server| above.set_client_log_level(Some(&server.name), level));
            }
        }
    }

    /// Whether there is at most one client.
    pub(crate) fn has_one_client(&self) -> bool {
        self.clients.load(Ordering::Relaxed) <= 1
    }
}

/// Refuses sampling outside of any client's call.
struct RefusingSampler;

impl Sampler for RefusingSampler {
    fn sample<'s>(
        &'s self,
        _request: &'s SamplingRequest,
    ) -> BoxedFuture<'s, Result<SamplingResult, SamplingRefusal>> {
        Box::pin(std::future::ready(Err(SamplingRefusal::Declined)))
    }

    fn takes_tools(&self) -> bool {
        true
    }
}

/// Cancels questions that a server asks outside of any client's call.
struct CancelingElicitor;

impl Elicitor for CancelingElicitor {
    fn ask<'q>(&'q self, _question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
        Box::pin(std::future::ready(ElicitationReply::Cancel))
    }
}
