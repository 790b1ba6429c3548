//! The host's own tools: looking at the resources of all servers (N9, X1).

use std::sync::Arc;

use mcparley_model::name::ServerName;
use mcparley_model::text::clean;
use mcparley_wire::{Params, RawJson};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::blocks::resource_outcome;
use super::error::CallError;
use super::outcome::Outcome;
use super::request::Request;
use super::shape::shape;
use super::wish::Call;
use crate::catalog::BuiltIn;
use crate::host::Host;

impl Host {
    pub(super) async fn own(&self, tool: BuiltIn, call: &Call) -> Result<Outcome, CallError> {
        let argument = |name: &str| call.arguments.get(name).and_then(Value::as_str);
        match tool {
            BuiltIn::ListResources => self.list_resources(argument("server")),
            BuiltIn::ReadResource => {
                let (server, uri) = (argument("server"), argument("uri"));
                self.read_resource(server.unwrap_or_default(), uri.unwrap_or_default()).await
            }
            BuiltIn::ReadResult => self.read_result(&call.arguments).await,
            BuiltIn::ToolSearch => self.search_by_tool(&call.arguments).await,
        }
    }

    fn list_resources(&self, only: Option<&str>) -> Result<Outcome, CallError> {
        if let Some(name) = only
            && self.connection(&ServerName::new(name)).is_none()
        {
            return Err(self.no_server(name));
        }
        let mut found = Vec::new();
        for connection in self.roster().connections() {
            if only.is_some_and(|name| name != connection.name.as_str()) {
                continue;
            }
            let surface = connection.state().surface;
            let listed = surface.resources.iter().filter_map(|raw| raw.decode::<Listed>().ok());
            found.extend(listed.map(|listed| listed.of(&connection.name)));
        }
        let text = serde_json::to_string(&found).unwrap_or_default();
        answer(&json!({ "content": [{ "type": "text", "text": text }] }))
    }

    async fn read_resource(&self, name: &str, uri: &str) -> Result<Outcome, CallError> {
        let server = ServerName::new(name);
        if self.connection(&server).is_none() {
            return Err(self.no_server(name));
        }
        let params = Params::new().with("uri", &uri);
        let request = Request { method: "resources/read", capability: "resources", params };
        let read = self.request(&server, request).await;
        let read = read.map_err(|error| CallError::Own { message: Arc::from(error.to_string()) })?;
        let contents = read.elements("contents").unwrap_or_default();
        let damaged = || CallError::Own { message: Arc::from("the resource cannot be read") };
        resource_outcome(&contents).ok_or_else(damaged)
    }

    fn no_server(&self, name: &str) -> CallError {
        let roster = self.roster();
        let known: Vec<String> = roster.connections().map(|connection| connection.name.to_string()).collect();
        let because = Some(format!("there are {}", known.join(", ")));
        CallError::UnknownServer { name: name.to_owned(), similar: self.servers_like(name), because }
    }
}

/// The answer of a tool of the host's own.
pub(crate) fn answer(result: &impl Serialize) -> Result<Outcome, CallError> {
    let own = |message: String| CallError::Own { message: Arc::from(message) };
    let raw = RawJson::of(result).map_err(|error| own(error.to_string()))?;
    shape(raw).map_err(|failure| own(failure.to_string()))
}

/// A resource as a server lists it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    uri: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    mime_type: Option<String>,
}

/// A resource as a model is shown it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Offered {
    server: ServerName,
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
}

impl Listed {
    fn of(self, server: &ServerName) -> Offered {
        let cleaned = |text: Option<String>| text.map(|text| clean(&text).into_owned());
        Offered {
            server: server.clone(),
            uri: clean(&self.uri).into_owned(),
            name: cleaned(self.name),
            title: cleaned(self.title),
            description: cleaned(self.description),
            mime_type: cleaned(self.mime_type),
        }
    }
}
