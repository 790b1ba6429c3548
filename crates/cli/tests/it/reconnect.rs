//! `reconnect`: a server is tried at once, and every running gateway connects to it anew.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use mcparley_cli::exit;
use mcparley_testkit::{HttpServer, ScriptedStdio, processes_tagged};
use serde_json::json;

use crate::serve::Served;
use crate::talk::{entry, scripted, world};
use crate::world::{refusal, wait_for};

const REQUESTS: &str = "home/.local/state/mcparley/reconnect.json";
const LONG: Duration = Duration::from_secs(30);

// U2 L6
#[test]
fn running_gateways_replace_the_server_by_a_new_process() {
    let tag = format!("reconnect-{}", std::process::id());
    let world = world(&json!({ "one": entry(&ScriptedStdio::new(&[]).with_option("--tag", &tag)) }));
    let mut gateways = [Served::start(&world, &[]), Served::start(&world, &["--only", "one"])];
    let old: Vec<u32> = gateways.iter_mut().map(|served| served.call("one__pid").parse().unwrap()).collect();
    let done = world.mcparley(&["reconnect", "one"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.starts_with("one: ") && done.out.contains("connected ("), "{done:?}");
    assert!(done.err.contains("2 running `mcparley serve` reconnect too"), "{done:?}");
    let mode = world.root.join(REQUESTS).metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    wait_for("the end of the old processes", LONG, || {
        let left = processes_tagged(&tag);
        !old.iter().any(|pid| left.contains(pid))
    });
    for (served, old) in gateways.iter_mut().zip(&old) {
        let new: u32 = served.call("one__pid").parse().unwrap();
        assert_ne!(new, *old);
    }
}

// U2 L12
#[test]
fn reconnect_prints_the_line_of_list_and_clears_the_cached_failure() {
    let world =
        world(&json!({ "bad": { "command": "sh", "args": ["-c", "test -e mended && exec cat; exit 3"] } }));
    for _ in 0..2 {
        let done = world.mcparley(&["reconnect", "bad"]);
        assert_eq!(done.code, i32::from(exit::UNREACHABLE.number), "{done:?}");
        let line = done.out.lines().next().unwrap();
        assert_eq!(Some(line), world.mcparley(&["list"]).out.lines().next());
    }
    // The count of failures begins again with every request; `list` adds one.
    let failures = world.root.join("home/.cache/mcparley/failures");
    let [file] =
        std::fs::read_dir(failures).unwrap().map(Result::unwrap).collect::<Vec<_>>().try_into().unwrap();
    let record: serde_json::Value = serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap();
    assert_eq!(record["count"], 2, "{record}");
}

// U2
#[test]
fn json_is_the_entry_that_list_has_for_the_server() {
    let locked = HttpServer::start(&["www-authenticate"]);
    let world = world(&json!({ "one": scripted(&[]), "locked": { "url": locked.url() } }));
    let mut report = world.json(&["reconnect", "one"]);
    assert_eq!((&report["name"], &report["health"]["is"]), (&json!("one"), &json!("connected")));
    assert!(report["health"]["tools"].as_u64().unwrap() >= 5, "{report}");
    let mut list = world.json(&["list"]);
    let servers = list["servers"].as_array_mut().unwrap();
    let listed = servers.iter_mut().find(|server| server["name"] == "one").unwrap();
    for report in [&mut report, &mut *listed] {
        report["health"]["milliseconds"] = json!(0);
    }
    assert_eq!(report, *listed);
    let done = world.mcparley(&["reconnect", "locked"]);
    assert_eq!(done.code, i32::from(exit::NEEDS_AUTH.number), "{done:?}");
    assert!(done.out.contains("mcparley login locked"), "{done:?}");
}

// U2
#[test]
fn reconnect_refuses_unknown_and_blocked_servers_with_a_hint() {
    let world = world(&json!({ "database": { "command": "x" }, "off": { "command": "x" } }));
    world.ok(&["disable", "off"]);
    world.write("home/project/.mcp.json", r#"{"mcpServers": {"waits": {"command": "x"}}}"#);
    assert_eq!(
        world.mcparley(&["reconnect", "databse"]),
        refusal(
            i32::from(exit::NOT_FOUND.number),
            "error: there is no server named `databse`\nhint: did you mean `database`?"
        )
    );
    for (name, hint) in [("off", "mcparley enable off"), ("waits", "mcparley approve waits")] {
        let done = world.mcparley(&["reconnect", name]);
        assert_eq!(done.code, i32::from(exit::DENIED.number), "{done:?}");
        assert!(done.err.contains(hint), "{done:?}");
    }
    assert!(!world.root.join(REQUESTS).exists(), "nothing was asked for");
}
