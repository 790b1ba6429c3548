//! `${VAR}` in entries: a missing variable spoils one server and is named (C6, B51, B52).

use mcparley::model::config::TransportConfig;

use crate::world::World;

const FILE: &str = "home/.claude.json";

// C6 B51
#[test]
fn a_missing_variable_spoils_only_its_own_server() {
    let world = World::with(&[(
        FILE,
        r#"{"mcpServers": {
"good": {"command": "x"},
"bad": {
  "command": "x",
  "args": ["a", "${MISSING}"]
},
"defaulted": {"command": "${MISSING:-x}"}
}}"#,
    )]);
    assert_eq!(
        world.table(),
        [
            "user good ready",
            "user bad invalid: home/.claude.json:5:17: environment variable `MISSING` is not set",
            "user defaulted ready",
        ]
    );
}

// C6
#[test]
fn variables_expand_in_every_string_of_an_entry() {
    let entries = [
        r#"{"command": "${V}"}"#,
        r#"{"command": "x", "args": ["${V}"]}"#,
        r#"{"command": "x", "env": {"K": "${V}"}}"#,
        r#"{"command": "x", "cwd": "/${V}"}"#,
        r#"{"url": "https://h/${V}"}"#,
        r#"{"url": "https://h/", "headers": {"K": "${V}"}}"#,
        r#"{"url": "https://h/", "headersHelper": "${V}"}"#,
        r#"{"url": "https://h/", "oauth": {"clientId": "${V}"}}"#,
        r#"{"url": "https://h/", "oauth": {"authServerMetadataUrl": "https://h/${V}"}}"#,
        r#"{"url": "https://h/", "oauth": {"scopes": ["${V}"]}}"#,
    ];
    for entry in entries {
        let mut world = World::with(&[(FILE, &format!(r#"{{"mcpServers": {{"it": {entry}}}}}"#))]);
        assert_eq!(world.standing("it").as_str(), "invalid", "{entry}");
        world.set("V", "value");
        assert_eq!(world.standing("it").as_str(), "ready", "{entry}");
        world.unset_all();
        assert_eq!(world.standing("it").as_str(), "invalid", "{entry}");
    }
}

// C6 B51
#[test]
fn a_value_is_never_expanded_again() {
    let mut world = World::with(&[(
        FILE,
        r#"{"mcpServers": {"it": {"command": "${A}", "args": ["$A", "$$", "${E:-x}", "${U:-x}y"]}}}"#,
    )]);
    world.set("A", "${B}");
    world.set("B", "inner");
    world.set("E", "");
    let loaded = world.load();
    let config = loaded.plan.ready_servers().next().unwrap().config.clone().unwrap();
    let TransportConfig::Stdio(stdio) = config.transport else { unreachable!("a command") };
    let args: Vec<&str> = stdio.args.iter().map(|arg| arg.expose().as_str()).collect();
    assert_eq!((stdio.command.as_str(), args), ("${B}", vec!["$A", "$$", "", "xy"]));
}

// B51 B52
#[test]
fn expansion_error_has_its_position() {
    let cases = [
        (r#"{"command": "${A"}"#, "`${` is never closed"),
        (r#"{"command": "${}"}"#, "`${…}` names no variable"),
        (r#"{"command": "${A:-${B}}"}"#, "the default of `${A:-…}` contains another `${`"),
        (r#"{"command": "${LINE}"}"#, "the value of `LINE` contains a line break or NUL"),
        (
            r#"{"url": "https://h/", "headers": {"K": "${LINE}"}}"#,
            "the value of `LINE` contains a line break or NUL",
        ),
    ];
    for (entry, why) in cases {
        let mut world = World::with(&[(FILE, &format!(r#"{{"mcpServers": {{"it": {entry}}}}}"#))]);
        world.set("LINE", "a\r\nInjected: yes");
        let table = world.table();
        assert!(table[0].starts_with("user it invalid: home/.claude.json:1:"), "{table:?}");
        assert!(table[0].ends_with(why), "{table:?} {why}");
    }
}
