//! `tools` and `call` against every server of the fleet, in every era it speaks.

use std::collections::BTreeSet;

use serde_json::Value;

use super::place::Place;
use super::servers::{
    Call, EVERYTHING, EVERYTHING_HTTP, FASTMCP, FASTMCP_HTTP, FILESYSTEM, GIT, GITHUB, MEMORY, RMCP, Server,
    TIME, WS,
};

/// How the configuration names the server.
const NAME: &str = "one";

/// Lists the tools and makes every call, each with a program of its own.
fn assert_works(server: &Server, era: Option<&str>) {
    let place = Place::new();
    let (mut entry, _running) = (server.entry)(&place);
    if let Some(era) = era {
        entry["era"] = era.into();
    }
    place.configure(NAME, &entry);
    assert_eq!(names(&place.world.json(&["tools", NAME])), server.tools.iter().copied().collect());
    for call in server.calls {
        assert_answers(&place, call);
    }
    assert_eq!(place.processes(), Vec::<u32>::new(), "nothing is left running");
}

fn assert_works_in_every_era(server: &Server) {
    assert_works(server, None);
    if server.old_version.is_some() {
        assert_works(server, Some("old"));
    }
}

/// The names that the server gives its tools.
fn names(listed: &Value) -> BTreeSet<&str> {
    let tools = listed["tools"].as_array().unwrap_or_else(|| panic!("no tools: {listed}"));
    tools.iter().map(|tool| tool["tool"].as_str().unwrap_or_else(|| panic!("no name: {tool}"))).collect()
}

fn assert_answers(place: &Place, call: &Call) {
    let work = place.work();
    let words: Vec<String> =
        call.words.iter().map(|word| word.replace("{work}", &work.to_string_lossy())).collect();
    let words: Vec<&str> =
        ["call", NAME, call.tool].into_iter().chain(words.iter().map(String::as_str)).collect();
    let done = place.world.mcparley(&words);
    assert_eq!(done.code, call.code, "{words:?}: {done:?}");
    assert!(done.out.contains(call.answer), "{words:?}: {done:?}");
}

// T1 N1 K1 R1
#[test]
fn fleet_everything_is_called() {
    assert_works_in_every_era(&EVERYTHING);
}

// T3 K1 R1
#[test]
fn fleet_everything_over_http_is_called() {
    assert_works_in_every_era(&EVERYTHING_HTTP);
}

// T1 K1 R1
#[test]
fn fleet_filesystem_is_called() {
    assert_works_in_every_era(&FILESYSTEM);
}

// T1 K1 R1
#[test]
fn fleet_memory_is_called() {
    assert_works_in_every_era(&MEMORY);
}

// T1 T9: only listed, because every tool of it wants the network.
#[test]
fn fleet_github_is_listed_in_the_oldest_version() {
    assert_works_in_every_era(&GITHUB);
}

// T1 T9 K1
#[test]
fn fleet_git_is_called_in_both_eras() {
    assert_works_in_every_era(&GIT);
}

// T1 T9 K1
#[test]
fn fleet_time_is_called_in_both_eras() {
    assert_works_in_every_era(&TIME);
}

// T1 T9 K1 R1
#[test]
fn fleet_fastmcp_is_called_in_both_eras() {
    assert_works_in_every_era(&FASTMCP);
}

// T3 T9 K1 R1
#[test]
fn fleet_fastmcp_over_http_is_called_in_both_eras() {
    assert_works_in_every_era(&FASTMCP_HTTP);
}

// T4 K1 R1
#[test]
fn fleet_python_over_a_socket_is_called() {
    assert_works_in_every_era(&WS);
}

// T1 T9 K1 R1
#[test]
fn fleet_rmcp_is_called_in_both_eras() {
    assert_works_in_every_era(&RMCP);
}
