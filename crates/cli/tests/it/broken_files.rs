//! A file that cannot be parsed is refused, kept byte for byte, and takes nobody with it (F77).

use crate::world::{World, refusal};

const LOCAL: &str = "home/project/.claude/settings.local.json";

/// Each scope's arguments and file.
const SCOPES: [(&[&str], &str); 5] = [
    (&["-s", "user", "--file", "settings"], "home/.claude/settings.json"),
    (&["-s", "user"], "home/.claude.json"),
    (&["-s", "project"], "home/project/.mcp.json"),
    (&["-s", "local", "--file", "settings"], LOCAL),
    (&["-s", "local"], "home/.claude.json"),
];

// F77 C14
#[test]
fn adding_to_a_broken_file_is_refused_with_its_place_and_the_file_stays() {
    let broken = [
        ("{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"", "3:10: not JSON: unterminated object"),
        ("{\n  \"a\": 1\n  \"b\": 2\n}", "2:9: not JSON: expected comma"),
        ("{\"a\": 1} trailing", "1:10: not JSON: text cannot contain more than one JSON value"),
    ];
    for (options, file) in SCOPES {
        for (text, place) in broken {
            let world = World::with(&[(file, text)]);
            let done = world.mcparley(&[&["add"], options, &["new", "x"]].concat());
            let line = place.split(':').next().unwrap();
            let err = format!(
                "error: {file}:{place}\nhint: fix line {line} of {file}; the file was not read and \
                 will not be changed until then"
            );
            assert_eq!(done, refusal(3, &err), "{options:?}");
            assert_eq!((world.read(file).as_str(), world.files()), (text, vec![file.to_owned()]));
        }
    }
}

// F77
#[test]
fn with_one_broken_file_the_other_scopes_still_load() {
    let world = World::with(&[("home/.claude.json", "{\"mcpServers\": {")]);
    world.ok(&["add", "-s", "user", "--file", "settings", "one", "x"]);
    world.ok(&["add", "--file", "settings", "two", "x"]);
    let done = world.mcparley(&["list", "--offline"]);
    assert_eq!(done.code, 0);
    assert_eq!(done.out, "one: x - ready\ntwo: x - ready\n");
    assert!(done.err.starts_with("error: home/.claude.json:1:"), "{done:?}");
    assert_eq!(world.mcparley(&["plan", "--check"]).code, 3);
}

// F77 C14
#[test]
fn a_value_of_another_kind_is_never_replaced() {
    let cases = [
        (r#"{"mcpServers": []}"#, "`mcpServers` is an array, not an object"),
        (r#"{"mcpServers": "x"}"#, "`mcpServers` is a string, not an object"),
        ("[]", "the file is an array, not an object"),
    ];
    for (text, why) in cases {
        let world = World::with(&[(LOCAL, text)]);
        let done = world.mcparley(&["add", "--file", "settings", "new", "x"]);
        let err = format!("error: {LOCAL}: {why}\nhint: fix {LOCAL} by hand; it was not changed");
        assert_eq!(done, refusal(3, &err));
        assert_eq!(world.read(LOCAL), text);
    }
}

// F77
#[test]
fn bytes_that_are_no_text_are_refused_with_their_place() {
    let world = World::with(&[(LOCAL, "")]);
    std::fs::write(world.root.join(LOCAL), b"{\n \"a\": \"\xff\"}").unwrap();
    let done = world.mcparley(&["add", "--file", "settings", "new", "x"]);
    assert_eq!(done.code, 7, "{done:?}");
    assert!(done.err.contains("is not UTF-8 at line 2, column 8"), "{done:?}");
    assert_eq!(std::fs::read(world.root.join(LOCAL)).unwrap(), b"{\n \"a\": \"\xff\"}");
}

// F77
#[test]
fn choices_are_not_written_to_a_broken_file() {
    let world = World::with(&[("home/.claude.json", "{ nonsense")]);
    world.ok(&["add", "-s", "project", "it", "x"]);
    for args in [&["disable", "it"][..], &["enable", "it"], &["reset-project-choices"]] {
        let done = world.mcparley(args);
        assert_eq!((done.code, done.out.as_str()), (3, ""), "{args:?}: {done:?}");
        assert_eq!(world.read("home/.claude.json"), "{ nonsense");
    }
    let store = "home/.local/state/mcparley/approvals.json";
    let world = World::with(&[(store, "{ nonsense")]);
    world.write("home/project/.mcp.json", r#"{"mcpServers": {"it": {"command": "x"}}}"#);
    for args in [&["approve", "it"][..], &["reject", "it"], &["reset-project-choices"], &["trust", "--yes"]] {
        let done = world.mcparley(args);
        assert_eq!(done.code, 3, "{args:?}: {done:?}");
        assert_eq!(world.read(store), "{ nonsense");
    }
}

// F77
#[test]
fn removing_what_a_broken_file_may_hold_names_the_file() {
    let world = World::with(&[("home/.claude.json", "{\"mcpServers\": {\"it\": {\"command\": \"x\"}")]);
    let done = world.mcparley(&["remove", "it"]);
    assert_ne!(done.code, 0);
    assert!(done.err.contains("home/.claude.json:1:"), "{done:?}");
}
