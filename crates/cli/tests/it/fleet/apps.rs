//! MCP Apps through the gateway: a host on the official SDK finds the tools with a user interface and reads their pages.

use serde_json::{Value, json};

use super::http_gateway::HttpGateway;
use super::place::{Place, installed, repository};
use super::servers::text;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcparley");

/// A place with the official server of MCP Apps.
fn place() -> Place {
    let place = Place::new();
    place.configure("pdf", &pdf_entry(&place));
    place
}

fn pdf_entry(place: &Place) -> Value {
    let script = text(installed("apps/node_modules/.bin/mcp-pdf-server"));
    place.stdio(&installed("apps/node"), &[&script, "--stdio"], &[])
}

/// The tools and pages that a host of apps sees.
fn visit(place: &Place, target: &[&str]) -> Value {
    let script = text(repository().join("fleet/foreign/apps_client.mjs"));
    let words = [&[script.as_str()], target].concat();
    let done = place.world.finish(&mut place.world.command_of(&installed("apps/node"), &words));
    done.out
        .lines()
        .last()
        .and_then(|line| serde_json::from_str(line).ok())
        .unwrap_or_else(|| panic!("{done:?}"))
}

/// Compares what a host sees through the gateway with what it sees without it.
fn assert_apps_shown(tool: &str, uri: &str, app_tool: &str, direct: &Value, seen: &Value) {
    let page = &seen["pages"][tool];
    let digest = &direct["pages"]["display_pdf"]["digest"];
    let expected =
        json!({ "listed": uri, "uri": uri, "type": "text/html;profile=mcp-app", "digest": digest });
    assert_eq!(*page, expected, "{seen}");
    assert!(seen["tools"].as_array().unwrap().contains(&json!(app_tool)), "tools of apps are listed: {seen}");
}

// G7: with one server the addresses are the server's, with several they lead back to it. The page is code and is not
// changed by a byte.
#[test]
fn fleet_apps_host_reads_user_interfaces_through_the_gateway() {
    let place = place();
    let entry = pdf_entry(&place);
    let words = entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
    let direct: Vec<&str> = ["stdio", entry["command"].as_str().unwrap()].into_iter().chain(words).collect();
    let direct = visit(&place, &direct);
    assert_eq!(direct["pages"]["display_pdf"]["uri"], "ui://pdf-viewer/mcp-app.html", "{direct}");

    let (one, many) = ("ui://pdf-viewer/mcp-app.html", "ui://pdf+pdf-viewer/mcp-app.html");
    let seen = visit(&place, &["stdio", PROGRAM, "serve", "--one", "pdf"]);
    assert_apps_shown("display_pdf", one, "read_pdf_bytes", &direct, &seen);
    let seen = visit(&place, &["stdio", PROGRAM, "serve"]);
    assert_apps_shown("pdf__display_pdf", many, "pdf__read_pdf_bytes", &direct, &seen);
    let gateway = HttpGateway::start(&place, &[]);
    let seen = visit(&place, &["http", &gateway.url, &gateway.token]);
    assert_apps_shown("pdf__display_pdf", many, "pdf__read_pdf_bytes", &direct, &seen);
}
