//! Tools as `server.tool`, and tools that are mistyped.

use mcparley_cli::exit;
use mcparley_testkit::{ScriptedStdio, log_starts};
use serde_json::json;

use crate::talk::{entry, good, scripted, world};
use crate::world::refusal;

// U2
#[test]
fn server_and_tool_may_be_one_word_with_a_dot() {
    let world = good();
    assert_eq!(world.ok(&["call", "good.echo", "message=hi"]), "hi\n");
    assert_eq!(world.ok(&["call", "good.echo", "--message", "hi"]), "hi\n");
    assert_eq!(world.ok(&["call", "--timeout", "9000", "good.add", "a=40", "b=2"]), "42\n");
    assert!(world.ok(&["call", "good.echo", "--help"]).contains("--message <string>"));
    assert_eq!(world.ok(&["tools", "good.echo"]), world.ok(&["tools", "good", "echo"]));
    let test = world.json(&["permissions", "test", "good.echo"]);
    assert_eq!((&test["server"], &test["tool"]), (&json!("good"), &json!("echo")));
    assert_eq!(world.ok(&["prompt", "good.greet"]), world.ok(&["prompt", "good", "greet"]));
    world.ok(&["disable", "good.echo"]);
    assert_eq!(world.mcparley(&["call", "good.echo", "message=hi"]).code, i32::from(exit::NOT_FOUND.number));
    world.ok(&["enable", "good.echo"]);
    assert_eq!(world.ok(&["call", "good.echo", "message=hi"]), "hi\n");
}

// U2
#[test]
fn the_longest_server_name_wins_and_an_unknown_one_is_named() {
    let mut other = scripted(&[]);
    other["env"] = json!({ "NAME": "other" });
    let world = world(&json!({ "a": scripted(&[]), "a.b": other }));
    assert_eq!(world.ok(&["call", "a.b.echo", "message=long"]), "long\n");
    assert_eq!(world.ok(&["call", "a.b", "echo", "message=two"]), "two\n");
    assert_eq!(world.ok(&["call", "a.echo", "message=short"]), "short\n");
    let error = "error: there is no server named `c`\nhint: did you mean `a`?";
    let unknown = world.mcparley(&["call", "c.echo", "message=hi"]);
    assert_eq!(unknown.code, i32::from(exit::NOT_FOUND.number));
    assert!(unknown.err.starts_with(error.lines().next().unwrap()), "{unknown:?}");
}

// U2 L12
#[test]
fn a_mistyped_tool_is_answered_from_the_cache_without_starting_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let world = world(&json!({ "one": entry(&ScriptedStdio::new(&[]).with_log(&log)) }));
    world.ok(&["tools", "one"]);
    let begun = log_starts(&log).len();
    let error = "error: there is no tool `ecco`: the cached list of `one` does not have it\n\
                 hint: did you mean `echo`?";
    for words in [&["call", "one", "ecco", "message=hi"][..], &["call", "one.ecco", "message=hi"]] {
        assert_eq!(world.mcparley(words), refusal(i32::from(exit::NOT_FOUND.number), error));
    }
    let public = world.mcparley(&["call", "mcp__one__ecco", "message=hi"]);
    assert_eq!(public.code, i32::from(exit::NOT_FOUND.number), "{public:?}");
    assert!(public.err.contains("hint: did you mean `mcp__one__echo`?"), "{public:?}");
    assert_eq!(log_starts(&log).len(), begun, "no server was started");
    // A name unlike all others may be a new tool, so the server is asked.
    let other = world.mcparley(&["call", "one", "entirely-different"]);
    assert_eq!(other.code, i32::from(exit::NOT_FOUND.number), "{other:?}");
    assert_eq!(log_starts(&log).len(), begun + 1);
}

// U2 U3
#[test]
fn piped_input_that_is_not_read_is_pointed_out() {
    let world = good();
    let done = world.fed(&["call", "good", "add"], r#"{"a": 1, "b": 2}"#);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("hint: standard input is read only with `-` after the tool"), "{done:?}");
    assert_eq!(world.fed(&["call", "good", "add", "-"], r#"{"a": 1, "b": 2}"#).out, "3\n");
}
