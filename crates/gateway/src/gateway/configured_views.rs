//! Opens the views of the setting `gateways`: agents of the gateway's host, each with its own servers, tools,
//! permission mode and names.

use mcparley::host::AgentError;
use mcparley::model::config::Spanned;
use mcparley::model::principal_match::PrincipalMatch;
use mcparley::model::settings::{ViewPrefix, ViewSettings};
use mcparley::{AgentSpec, Host};

use crate::gateway::Gateway;
use crate::mode::{GatewayMode, Naming};

/// A view of the gateway with an endpoint of its own.
#[derive(Debug)]
pub struct GatewayView {
    /// The name, which is the end of the path.
    pub name: String,
    /// The gateway that clients of the view see.
    pub gateway: Gateway,
    /// The requests per second of one principal.
    pub rate: Option<u32>,
    /// The principals that may use the view; others do not learn that it exists.
    pub principals: Vec<PrincipalMatch>,
}

impl Gateway {
    /// Opens the views of the settings. A transparent gateway has none, because its clients talk to one server.
    ///
    /// # Errors
    /// When the host is shutting down.
    pub async fn open_views(
        &self,
        settings: &[Spanned<ViewSettings>],
    ) -> Result<Vec<GatewayView>, AgentError> {
        let mut views = Vec::new();
        for Spanned { value: view, .. } in settings.iter().filter(|_| !self.mode.is_transparent()) {
            // An agent of the gateway's own host sees no more than it does.
            let agent = self.host.start_agent(agent_of(view)).await?;
            let mode = mode_of(view, GatewayMode::clone(&self.mode));
            views.push(GatewayView {
                name: view.name.clone(),
                gateway: self.open_view(&view.name, Host::clone(&agent), mode),
                rate: view.rate,
                principals: view.principals.clone(),
            });
        }
        Ok(views)
    }
}

impl GatewayView {
    /// The URL of the view, below that of the main endpoint, with its servers and clients.
    #[must_use]
    pub fn describe_below(&self, main: &str) -> String {
        let servers = self.gateway.host.servers().len();
        let ending = if servers == 1 { "" } else { "s" };
        let clients: Vec<String> = self.principals.iter().map(ToString::to_string).collect();
        format!("{main}/{}: {servers} server{ending}, for {}", self.name, clients.join(", "))
    }
}

fn agent_of(view: &ViewSettings) -> AgentSpec {
    let spec = AgentSpec::new(&view.name);
    let spec = match &view.servers {
        None => spec,
        Some(servers) => servers
            .iter()
            .fold(spec.without_shared_servers(), |spec, server| spec.share_server(server.as_str())),
    };
    let spec = if view.tools.is_empty() { spec } else { spec.offer_tools(view.tools.clone()) };
    match view.mode {
        Some(mode) => spec.with_permission_mode(mode),
        None => spec,
    }
}

fn mode_of(view: &ViewSettings, mode: GatewayMode) -> GatewayMode {
    GatewayMode {
        naming: match view.prefix {
            None => mode.naming,
            Some(ViewPrefix::Server) => Naming::Server,
            Some(ViewPrefix::Mcp) => Naming::Mcp,
            Some(ViewPrefix::None) => Naming::Bare,
        },
        for_model: view.for_model.unwrap_or(mode.for_model),
        ..mode
    }
}
