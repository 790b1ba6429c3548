//! The example servers of the TypeScript SDK 1.x: Streamable HTTP with and without sessions, with JSON answers, with
//! streams that are cut, with questions and tasks, and HTTP+SSE.

use mcparley_testkit::ExternalServer;
use serde_json::{Value, json};

use super::more_servers::NO_CALLS;
use crate::fleet::place::{Place, installed, repository};
use crate::fleet::servers::{LAST_OLD, Server, text, works};

/// What the examples have in common.
const SDK_SERVER: Server = Server {
    entry: |place| run_example(place, "simpleStreamableHttp"),
    version: LAST_OLD,
    old_version: None,
    tools: &[],
    tools_by_capability: &[],
    calls: NO_CALLS,
};

pub(super) const SDK_STREAMABLE: Server = Server {
    tools: &[
        "collect-user-info",
        "collect-user-info-task",
        "delay",
        "greet",
        "list-files",
        "multi-greet",
        "start-notification-stream",
    ],
    calls: &[
        works("greet", &["name=Ada"], "Hello, Ada!"),
        works("delay", &["duration=1"], "Completed 1ms delay"),
    ],
    ..SDK_SERVER
};

pub(super) const SDK_STATELESS: Server = Server {
    entry: |place| run_example(place, "simpleStatelessStreamableHttp"),
    tools: &["start-notification-stream"],
    calls: &[works("start-notification-stream", &["interval=1", "count=2"], "notifications every 1ms")],
    ..SDK_SERVER
};

pub(super) const SDK_JSON: Server = Server {
    entry: |place| run_example(place, "jsonResponseStreamableHttp"),
    tools: &["greet", "multi-greet"],
    calls: &[works("greet", &["name=Ada"], "Hello, Ada!")],
    ..SDK_SERVER
};

/// It has resources only, whose addresses are random.
pub(super) const SDK_RESOURCES: Server =
    Server { entry: |place| run_example(place, "standaloneSseWithGetStreamableHttp"), ..SDK_SERVER };

/// It closes the stream in the middle of the call; the answer comes on the next one.
pub(super) const SDK_POLLING: Server = Server {
    entry: |place| run_example(place, "ssePollingExample"),
    tools: &["long-task"],
    calls: &[works("long-task", &[], "Long task completed successfully!")],
    ..SDK_SERVER
};

/// Its tools need a person.
pub(super) const SDK_FORM: Server = Server {
    entry: |place| run_example(place, "elicitationFormExample"),
    tools: &["create_event", "register_user", "update_shipping_address"],
    ..SDK_SERVER
};

/// Its tools need a person and a model.
pub(super) const SDK_TASKS: Server = Server {
    entry: |place| run_example(place, "simpleTaskInteractive"),
    tools: &["confirm_delete", "write_haiku"],
    ..SDK_SERVER
};

pub(super) const SDK_SSE: Server = Server {
    entry: |place| over_sse(run_example(place, "simpleSseServer"), "mcp"),
    tools: &["start-notification-stream"],
    calls: &[works("start-notification-stream", &["interval=1", "count=2"], "every 1ms")],
    ..SDK_SERVER
};

pub(super) const SDK_COMPATIBLE: Server = Server {
    entry: |place| run_example(place, "sseAndStreamableHttpCompatibleServer"),
    tools: &["start-notification-stream"],
    calls: &[works("start-notification-stream", &["interval=1", "count=2"], "every 1ms")],
    ..SDK_SERVER
};

pub(super) const SDK_COMPATIBLE_SSE: Server = Server {
    entry: |place| over_sse(run_example(place, "sseAndStreamableHttpCompatibleServer"), "sse"),
    ..SDK_COMPATIBLE
};

/// Starts an example at a free port.
fn run_example(place: &Place, example: &str) -> (Value, Option<ExternalServer>) {
    let examples = "npm/node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server";
    let script = text(installed(&format!("{examples}/{example}.js")));
    let port = text(repository().join("fleet/listen_port.mjs"));
    let words = ["--import", &port, &script];
    let (entry, server) = place.http(&installed("npm/node"), &words, |command, port| {
        command.env("PORT", port);
    });
    (entry, Some(server))
}

/// The same server over HTTP+SSE, whose stream is at this path.
fn over_sse((_, server): (Value, Option<ExternalServer>), path: &str) -> (Value, Option<ExternalServer>) {
    let address = server.as_ref().map(ExternalServer::address).unwrap();
    (json!({ "type": "sse", "url": format!("http://{address}/{path}") }), server)
}
