//! The tools by which a model looks at resources: `ListMcpResources` and `ReadMcpResource` (N9, X1).

use std::sync::Arc;

use mcparley_model::limits::{RESOURCE_LINE_CHARS, RESOURCES_SHOWN};
use mcparley_model::name::{PublicName, ServerName};
use mcparley_model::text::cut;
use serde_json::{Map, Value, json};

use super::error::ResourceError;
use super::{Resource, ResourceTemplate, Resources};
use crate::call::{Call, CallError, Outcome, RequestError, own_answer};
use crate::catalog::BuiltIn;
use crate::host::Host;

impl Host {
    /// Lists a page of what there is, resources first.
    pub(crate) fn list_resources(&self, call: &Call) -> Result<Outcome, CallError> {
        let server = call.arguments.get("server").and_then(Value::as_str).map(ServerName::new);
        let offset = call.arguments.get("offset").and_then(Value::as_u64).unwrap_or(0);
        let Resources { resources, templates } =
            self.resources(server.as_ref()).map_err(|error| self.told_servers(error))?;
        let roster = self.roster();
        let is_shown = |server: &ServerName| roster.gate.denies_all_of(server).is_none();
        let resources = resources.iter().filter(|resource| is_shown(&resource.server)).map(of_resource);
        let templates = templates.iter().filter(|template| is_shown(&template.server)).map(of_template);
        let all: Vec<Value> = resources.chain(templates).collect();
        let begin = usize::try_from(offset).unwrap_or(usize::MAX).min(all.len());
        let end = (begin + RESOURCES_SHOWN).min(all.len());
        let page = Value::from(all.get(begin..end).unwrap_or_default());
        let mut content = vec![json!({ "type": "text", "text": page.to_string() })];
        if end < all.len() {
            let more = format!("{} more: call again with `offset` {end}", all.len() - end);
            content.push(json!({ "type": "text", "text": more }));
        }
        own_answer(&json!({ "content": content }))
    }

    /// Reads one. That it is not there is an answer a model can use, and no failure of the tool.
    pub(crate) async fn read_resource_for_model(&self, call: &Call) -> Result<Outcome, CallError> {
        let argument = |name: &str| call.arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let (server, uri) = (ServerName::new(argument("server")), argument("uri"));
        if let Some(decision) = self.roster().gate.denies_all_of(&server) {
            let message = format!("everything of server `{}` is denied by {}", server, decision.why);
            let tool = PublicName::built_in(BuiltIn::ReadResource.as_str());
            return Err(match tool {
                Some(tool) => CallError::Denied { tool, decision: Box::new(decision), message },
                None => CallError::Own { message: Arc::from(message) },
            });
        }
        match self.resource_as_outcome(&server, uri).await {
            Ok(outcome) => Ok(outcome),
            Err(error @ ResourceError::NotFound { .. }) => {
                let text = format!("{error}. `ListMcpResources` lists what there is.");
                own_answer(&json!({ "content": [{ "type": "text", "text": text }], "isError": true }))
            }
            Err(ResourceError::Request(error)) => Err(self.told_servers(error)),
            Err(error) => Err(CallError::Own { message: Arc::from(error.to_string()) }),
        }
    }

    /// The error of a tool; for a server that is not there, with those that are.
    fn told_servers(&self, error: RequestError) -> CallError {
        match error {
            RequestError::UnknownServer { name, similar, .. } => {
                let roster = self.roster();
                let known: Vec<String> = roster.connections().map(|it| it.name.to_string()).collect();
                let because = Some(format!("there are {}", known.join(", ")));
                CallError::UnknownServer { name, similar, because }
            }
            RequestError::Unavailable { server, why } => CallError::Unavailable { server, why },
            error => CallError::Own { message: Arc::from(error.to_string()) },
        }
    }
}

/// A resource as a model is shown it.
fn of_resource(resource: &Resource) -> Value {
    let mut shown = entry(&resource.server, "uri", &resource.uri);
    add(&mut shown, "name", Some(&resource.name));
    add(&mut shown, "title", resource.title.as_ref());
    add(&mut shown, "description", resource.description.as_ref());
    add(&mut shown, "mimeType", resource.mime.as_ref());
    if let Some(size) = resource.size {
        shown.insert("size".to_owned(), Value::from(size));
    }
    Value::Object(shown)
}

/// A template as a model is shown it.
fn of_template(template: &ResourceTemplate) -> Value {
    let mut shown = entry(&template.server, "uriTemplate", &template.uri_template);
    add(&mut shown, "name", Some(&template.name));
    add(&mut shown, "title", template.title.as_ref());
    add(&mut shown, "description", template.description.as_ref());
    add(&mut shown, "mimeType", template.mime.as_ref());
    Value::Object(shown)
}

fn entry(server: &ServerName, key: &str, address: &str) -> Map<String, Value> {
    let fields = [("server", server.as_str()), (key, address)];
    fields.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
}

fn add(shown: &mut Map<String, Value>, name: &str, text: Option<&String>) {
    if let Some(text) = text {
        shown.insert(name.to_owned(), Value::from(cut(text, RESOURCE_LINE_CHARS)));
    }
}
