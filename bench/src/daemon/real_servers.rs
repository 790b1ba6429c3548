//! The thirteen servers of others that the clients use, installed by `cargo xtask fleet`.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

/// The variable that marks the processes of a server; its value begins with the mark of the run.
pub(super) const MARK: &str = "MCPARLEY_BENCH_SERVER";

/// The number of servers.
pub(super) const SERVERS: usize = 13;

/// The servers that work in the folder or the roots of their client.
const USE_FOLDER: [&str; 2] = ["eslint", "filesystem"];

/// Which clients share a server, as its entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryShare {
    /// Nothing is written: mcparley decides.
    Auto,
    /// `share: always`, except for servers that work in the folder of their client.
    AlwaysWherePossible,
}

/// The installed fleet.
#[derive(Debug)]
pub(super) struct RealServers {
    fleet: PathBuf,
}

impl RealServers {
    /// Finds the fleet of this workspace.
    pub(super) fn find() -> io::Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
        let fleet = root.join(".tools/fleet");
        match fleet.join("npm/node_modules/.bin/context7-mcp").exists() {
            true => Ok(Self { fleet }),
            false => Err(io::Error::other("the fleet is not installed: run `cargo xtask fleet`")),
        }
    }

    /// The path of an installed file.
    pub(super) fn installed(&self, path: &str) -> PathBuf {
        self.fleet.join(path)
    }

    /// The `mcpServers` of a configuration: their files are in `files`, their processes carry the mark.
    pub(super) fn entries(&self, files: &Path, mark: &str, share: EntryShare) -> Map<String, Value> {
        let file = |name: &str| files.join(name).to_string_lossy().into_owned();
        let demo = self.installed("../../fleet/demo_fastmcp.py").to_string_lossy().into_owned();
        let none = json!({});
        let servers = [
            ("context7", self.node("npm", "context7-mcp", &[], &none)),
            ("eslint", self.node("npm", "mcp", &[], &none)),
            ("everything", self.node("npm", "mcp-server-everything", &["stdio"], &none)),
            ("fastmcp", self.program("fastmcp/bin/fastmcp", &["run", &demo, "--no-banner"])),
            ("filesystem", self.node("npm", "mcp-server-filesystem", &[&file("")], &none)),
            ("git", self.program("servers/bin/mcp-server-git", &["--repository", &file("repo")])),
            (
                "github",
                self.node(
                    "npm",
                    "mcp-server-github",
                    &[],
                    &json!({ "GITHUB_PERSONAL_ACCESS_TOKEN": "none" }),
                ),
            ),
            ("mcpvault", self.node("npm", "mcpvault", &[&file("")], &none)),
            (
                "memory",
                self.node(
                    "npm",
                    "mcp-server-memory",
                    &[],
                    &json!({ "MEMORY_FILE_PATH": file("memory.jsonl") }),
                ),
            ),
            ("pdf", self.node("apps", "mcp-pdf-server", &["--stdio"], &none)),
            (
                "postman",
                self.node(
                    "npm",
                    "postman-mcp-server",
                    &["--full"],
                    &json!({ "POSTMAN_API_KEY": "PMAK-none" }),
                ),
            ),
            ("sqlite", self.program("ws/bin/mcp-server-sqlite", &["--db-path", &file("notes.db")])),
            ("time", self.program("servers/bin/mcp-server-time", &["--local-timezone", "UTC"])),
        ];
        let entry = |(name, mut entry): (&str, Value)| {
            entry["env"][MARK] = json!(format!("{mark}:{name}"));
            if share == EntryShare::AlwaysWherePossible && !USE_FOLDER.contains(&name) {
                entry["share"] = json!("always");
            }
            (name.to_owned(), entry)
        };
        let servers: [_; SERVERS] = servers.map(entry);
        servers.into_iter().collect()
    }

    fn node(&self, set: &str, script: &str, arguments: &[&str], env: &Value) -> Value {
        let script = self.installed(&format!("{set}/node_modules/.bin/{script}"));
        let words: Vec<Value> =
            std::iter::once(json!(script)).chain(arguments.iter().map(|word| json!(word))).collect();
        json!({ "command": self.installed(&format!("{set}/node")), "args": words, "env": env })
    }

    fn program(&self, path: &str, arguments: &[&str]) -> Value {
        // Python would leave compiled files beside the demonstration.
        json!({ "command": self.installed(path), "args": arguments, "env": { "PYTHONDONTWRITEBYTECODE": "1" } })
    }
}
