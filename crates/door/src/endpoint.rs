//! The endpoints for MCP: the main one at `/mcp`, and a view of the gateway at `/mcp/NAME` for each name in the
//! settings.

use std::sync::Arc;

use mcparley::pool::principal::ClientIdentity;
use mcparley_identity::is_view_name;
use mcparley_model::principal_match::PrincipalMatch;

use crate::guard::load::LoadLimits;
use crate::guard::refusal::RequestRefusal;
use crate::http_session::HttpSession;
use crate::session_table::SessionTable;
use mcparley_cluster::Seal;
use mcparley_gateway::{Gateway, GatewayView};

/// The path of the main endpoint.
pub(crate) const MAIN_PATH: &str = "/mcp";

/// One endpoint for MCP.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) sessions: SessionTable,
    name: Option<Box<str>>,
    /// The rate limit of a view.
    rate: Option<Arc<LoadLimits>>,
    /// The principals of a view; every client with a valid token may use the main endpoint.
    principals: Option<Vec<PrincipalMatch>>,
}

/// All endpoints of a gateway.
#[derive(Debug)]
pub(crate) struct Endpoints {
    pub(crate) main: Arc<Endpoint>,
    views: Vec<Arc<Endpoint>>,
}

/// The verified client of a request to an endpoint.
#[derive(Debug)]
pub(crate) struct EndpointClient {
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) identity: Arc<ClientIdentity>,
}

impl Endpoints {
    pub(crate) fn new(gateway: &Gateway, views: Vec<GatewayView>, seal: &Arc<Seal>) -> Self {
        let main = Endpoint {
            sessions: SessionTable::new(gateway.clone(), MAIN_PATH, Arc::clone(seal)),
            name: None,
            rate: None,
            principals: None,
        };
        let view = |GatewayView { name, gateway, rate, principals }| {
            let path = format!("{MAIN_PATH}/{name}");
            Arc::new(Endpoint {
                sessions: SessionTable::new(gateway, &path, Arc::clone(seal)),
                name: Some(name.into()),
                rate: rate.map(|rate| LoadLimits::new(Some(rate))),
                principals: Some(principals),
            })
        };
        Self { main: Arc::new(main), views: views.into_iter().map(view).collect() }
    }

    /// The view that a path names, whether it exists or not; `None` for other paths. Without any view there are
    /// no such paths.
    pub(crate) fn view_name<'p>(&self, path: &'p str) -> Option<&'p str> {
        let name = path.strip_prefix(MAIN_PATH)?.strip_prefix('/')?;
        (!self.views.is_empty() && is_view_name(name)).then_some(name)
    }

    /// The endpoint of a verified client. A view that is not for it is like one that does not exist.
    pub(crate) fn open_endpoint(
        &self,
        view: Option<&str>,
        identity: Arc<ClientIdentity>,
    ) -> Result<EndpointClient, RequestRefusal> {
        let Some(view) = view else {
            return Ok(EndpointClient { endpoint: Arc::clone(&self.main), identity });
        };
        let endpoint = self.find_endpoint(Some(view)).ok_or_else(|| RequestRefusal::path("path"))?;
        let is_for = |rules: &Vec<PrincipalMatch>| rules.iter().any(|rule| includes_client(rule, &identity));
        match endpoint.principals.as_ref().is_none_or(is_for) {
            true => Ok(EndpointClient { endpoint: Arc::clone(endpoint), identity }),
            false => Err(RequestRefusal::path("view_of_others").with_misuse(Some(&identity))),
        }
    }

    /// The endpoint of a view, or the main one.
    pub(crate) fn find_endpoint(&self, view: Option<&str>) -> Option<&Arc<Endpoint>> {
        self.iter().find(|endpoint| endpoint.name.as_deref() == view)
    }

    /// The session with this key, if it is in memory.
    pub(crate) fn find_session_by_key(&self, key: &str) -> Option<Arc<HttpSession>> {
        self.iter().find_map(|endpoint| endpoint.sessions.find_by_key(key))
    }

    /// All endpoints.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Endpoint>> {
        std::iter::once(&self.main).chain(&self.views)
    }
}

impl Endpoint {
    /// The rate limit of a view that has one, with the name of the view.
    pub(crate) fn view_rate(&self) -> Option<(Arc<LoadLimits>, Box<str>)> {
        Some((Arc::clone(self.rate.as_ref()?), self.name.clone()?))
    }
}

impl EndpointClient {
    /// Takes the request from the rate limit of the view.
    pub(crate) fn check_rate(&self) -> Result<(), RequestRefusal> {
        match &self.endpoint.rate {
            // Requests at once are limited for the whole gateway.
            Some(limits) => limits.admit(&self.identity.account).map(drop),
            None => Ok(()),
        }
    }
}

fn includes_client(rule: &PrincipalMatch, client: &ClientIdentity) -> bool {
    let claims = client.claims.iter().map(|(name, value)| (&**name, &**value));
    rule.includes(&client.account, client.scopes.iter().map(|scope| &**scope), claims)
}
