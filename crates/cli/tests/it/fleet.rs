//! The program against real servers that others wrote: `cargo xtask fleet` installs them, [`servers`] says
//! what each must show.
//!
//! One test for each server, so that a failure names it and they run side by side.

mod apps;
mod ask;
mod calls;
mod clients;
mod cluster;
mod compatibility;
mod connected;
mod console;
mod dialogs;
mod foreign;
mod http_gateway;
pub(crate) mod place;
mod roots;
pub(crate) mod servers;
mod shared;
mod transparency;
mod web_page;

use place::Place;
use serde_json::Value;
use servers::{
    EVERYTHING, EVERYTHING_HTTP, FASTMCP, FASTMCP_HTTP, FILESYSTEM, GIT, GITHUB, MEMORY, RMCP, Server, TIME,
    WS,
};

/// How the configuration names the server.
const NAME: &str = "one";

/// What `list` says of a server whose entry carries this `era`.
fn health(server: &Server, era: Option<&str>) -> Value {
    let place = Place::new();
    let (mut entry, _running) = (server.entry)(&place);
    if let Some(era) = era {
        entry["era"] = era.into();
    }
    place.configure(NAME, &entry);
    let list = place.world.json(&["list"]);
    assert_eq!(place.processes(), Vec::<u32>::new(), "nothing is left running");
    let servers = list["servers"].as_array().unwrap();
    servers.iter().find(|server| server["name"] == NAME).unwrap()["health"].clone()
}

/// Connected, in this version of the protocol, with all its tools.
fn assert_connects(server: &Server, era: Option<&str>, version: &str) {
    let health = health(server, era);
    assert_eq!(health["is"], "connected", "{health}");
    assert_eq!(health["protocol"], version, "{health}");
    let tools = health["tools"].as_u64().unwrap();
    assert!(tools >= server.tools.len() as u64, "{health}");
    assert!(tools <= (server.tools.len() + server.tools_by_capability.len()) as u64, "{health}");
}

fn assert_connects_in_every_era(server: &Server) {
    assert_connects(server, None, server.version);
    if let Some(version) = server.old_version {
        assert_connects(server, Some("old"), version);
    }
}

// T1 T9 L8 L9
#[test]
fn fleet_everything_is_connected() {
    assert_connects_in_every_era(&EVERYTHING);
}

// T3 T9
#[test]
fn fleet_everything_over_http_is_connected() {
    assert_connects_in_every_era(&EVERYTHING_HTTP);
}

// T1 T9
#[test]
fn fleet_filesystem_is_connected() {
    assert_connects_in_every_era(&FILESYSTEM);
}

// T1 T9
#[test]
fn fleet_memory_is_connected() {
    assert_connects_in_every_era(&MEMORY);
}

// T1 T9: the oldest revision that is still in use.
#[test]
fn fleet_github_is_connected_in_the_oldest_version() {
    assert_connects_in_every_era(&GITHUB);
}

// T1 T9
#[test]
fn fleet_git_is_connected_in_both_eras() {
    assert_connects_in_every_era(&GIT);
}

// T1 T9
#[test]
fn fleet_time_is_connected_in_both_eras() {
    assert_connects_in_every_era(&TIME);
}

// T1 T9
#[test]
fn fleet_fastmcp_is_connected_in_both_eras() {
    assert_connects_in_every_era(&FASTMCP);
}

// T3 T9
#[test]
fn fleet_fastmcp_over_http_is_connected_in_both_eras() {
    assert_connects_in_every_era(&FASTMCP_HTTP);
}

// T4 T9
#[test]
fn fleet_python_over_a_socket_is_connected() {
    assert_connects_in_every_era(&WS);
}

// T1 T9
#[test]
fn fleet_rmcp_is_connected_in_both_eras() {
    assert_connects_in_every_era(&RMCP);
}
