//! Server entry in code: one member of `mcpServers`, without JSON text.

use std::fmt;

use mcparley_model::secret::Secret;
use serde_json::{Map, Value, json};

/// The entry of a server that the embedding program declares; `RunOptions::with_server` takes it.
///
/// It passes the same checks as an entry of `--mcp-config`: policy applies to it, approval is not needed.
/// Values are as in files, so `${VAR}` refers to a variable of `RunOptions::env`.
///
/// ```
/// use mcparley_config::ServerEntry;
///
/// let files = ServerEntry::stdio("npx").args(["-y", "@modelcontextprotocol/server-filesystem", "."]);
/// let api = ServerEntry::http("https://example.com/mcp").header("Authorization", "Bearer ${TOKEN}");
/// ```
#[derive(Clone, PartialEq)]
pub struct ServerEntry {
    /// The fields as files name them. Secret, because arguments, variables and headers may contain tokens.
    fields: Secret<Map<String, Value>>,
}

impl ServerEntry {
    /// A local server: a program that speaks MCP on its standard streams.
    #[must_use]
    pub fn stdio(command: impl Into<String>) -> Self {
        Self::new("stdio", "command", json!(command.into()))
    }

    /// A server behind a URL, over Streamable HTTP.
    #[must_use]
    pub fn http(url: impl Into<String>) -> Self {
        Self::new("http", "url", json!(url.into()))
    }

    fn new(kind: &str, field: &str, value: Value) -> Self {
        let fields = [("type".to_owned(), json!(kind)), (field.to_owned(), value)];
        Self { fields: Secret::new(fields.into_iter().collect()) }
    }

    /// Adds arguments for the program.
    #[must_use]
    pub fn args(self, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let args = args.into_iter().map(|arg| json!(arg.into()));
        self.change_field("args", |field| match field {
            Value::Array(all) => all.extend(args),
            other => *other = args.collect(),
        })
    }

    /// Sets an environment variable of the program.
    #[must_use]
    pub fn env(self, name: &str, value: impl Into<String>) -> Self {
        self.set_member("env", name, json!(value.into()))
    }

    /// Sets the working directory of the program; the default is the project folder.
    #[must_use]
    pub fn cwd(self, folder: impl Into<String>) -> Self {
        self.field("cwd", folder.into())
    }

    /// Sets a header that is sent with every request.
    #[must_use]
    pub fn header(self, name: &str, value: impl Into<String>) -> Self {
        self.set_member("headers", name, json!(value.into()))
    }

    /// Sets any other field by its name in files: `timeout`, `alwaysLoad`, `enabledTools`, `oauth`.
    #[must_use]
    pub fn field(self, name: &str, value: impl Into<Value>) -> Self {
        self.change_field(name, |field| *field = value.into())
    }

    fn set_member(self, field: &str, name: &str, value: Value) -> Self {
        self.change_field(field, |field| match field {
            Value::Object(members) => drop(members.insert(name.to_owned(), value)),
            other => *other = json!({ name: value }),
        })
    }

    fn change_field(self, name: &str, change: impl FnOnce(&mut Value)) -> Self {
        let mut fields = self.fields.into_exposed();
        change(fields.entry(name).or_insert(Value::Null));
        Self { fields: Secret::new(fields) }
    }

    /// The JSON document that a file with these entries would contain.
    pub(crate) fn to_document(entries: &[(String, Self)]) -> String {
        let servers: Map<String, Value> = entries
            .iter()
            .map(|(name, entry)| (name.clone(), Value::Object(entry.fields.expose().clone())))
            .collect();
        json!({ "mcpServers": servers }).to_string()
    }
}

impl fmt::Debug for ServerEntry {
    /// Prints the names of fields only: their values may be tokens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.fields.expose().keys()).finish()
    }
}
