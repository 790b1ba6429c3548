//! What `add` does not do, and what it says instead; the files stay as they are (U1, B54).

use crate::world::{Output, World, refusal};

fn refused(args: &[&str]) -> Output {
    let world = World::new();
    let done = world.mcparley(args);
    assert!(world.files().is_empty(), "{args:?} wrote {:?}", world.files());
    done
}

// U1
#[test]
fn invalid_words_of_add_are_refused() {
    let cases: [(&[&str], &str); 9] = [
        (
            &["add", "-e", "NOEQ", "x", "cmd"],
            "error: `--env` takes KEY=VALUE\nhint: write `-e KEY=VALUE`, one each",
        ),
        (
            &["add", "-e", "=v", "x", "cmd"],
            "error: `--env` takes KEY=VALUE\nhint: write `-e KEY=VALUE`, one each",
        ),
        (
            &["add", "-H", "nocolon", "x", "https://h/"],
            "error: `--header` takes `Key: Value`\nhint: write `-H 'Key: Value'`, one each",
        ),
        (
            &["add", "-H", ": v", "x", "https://h/"],
            "error: `--header` takes `Key: Value`\nhint: write `-H 'Key: Value'`, one each",
        ),
        (
            &["add", "-H", "A: b", "x", "cmd"],
            "error: `--header` cannot be used with a command\nhint: this option is for URLs; set variables of a \
             command with `-e KEY=VALUE`",
        ),
        (
            &["add", "-e", "A=b", "x", "https://h/"],
            "error: `--env` cannot be used with a URL\nhint: this option is for commands; set headers of a URL with \
             `-H 'Key: Value'`",
        ),
        (
            &["add", "-t", "http", "x", "cmd"],
            "error: a `http` server needs a URL, not a command\nhint: a URL begins with https://",
        ),
        (
            &["add", "x", "https://h/", "extra"],
            "error: only options may follow a URL\nhint: a URL takes no arguments; run `mcparley add --help` for examples",
        ),
        (
            &["add", "--xaa", "x", "cmd"],
            "error: `--xaa` cannot be used with a command\nhint: this option is for URLs; set variables of a \
             command with `-e KEY=VALUE`",
        ),
    ];
    for (args, err) in cases {
        assert_eq!(refused(args), refusal(2, err), "{args:?}");
    }
}

// U1
#[test]
fn options_that_do_not_exist_are_refused() {
    let cases: [&[&str]; 8] = [
        &["add", "-t", "bogus", "x", "https://h/"],
        &["add", "x", "-t", "bogus", "https://h/"],
        &["add", "x", "https://h/", "-t", "bogus"],
        &["add", "-s", "enterprise", "x", "cmd"],
        &["add", "--callback-port", "70000", "x", "https://h/"],
        &["add", "--callback-port", "0", "x", "https://h/"],
        &["add", "--bogus", "x", "cmd"],
        &["add", "x"],
    ];
    for args in cases {
        let done = refused(args);
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{args:?}: {done:?}");
        assert!(done.err.starts_with("error: "), "{done:?}");
    }
}

// B54
#[test]
fn names_that_need_normalizing_are_refused_with_a_better_one() {
    let rule = "a server's name consists of letters, digits, `_` and `-`";
    let cases = [
        ("a b", format!("error: `a b` contains ` `; {rule}\nhint: call it `a_b`")),
        ("../../x", format!("error: `../../x` contains `.`; {rule}\nhint: call it `x`")),
        ("a/b", format!("error: `a/b` contains `/`; {rule}\nhint: call it `a_b`")),
        ("a.b", format!("error: `a.b` contains `.`; {rule}\nhint: call it `a_b`")),
        ("🦀", format!("error: `🦀` contains `🦀`; {rule}")),
        ("\u{1b}[31m", format!("error: `\\x1b[31m` contains `\\x1b`; {rule}\nhint: call it `31m`")),
        (
            "",
            "error: a server's name cannot be empty\nhint: give the server a short name, such as `github`"
                .to_owned(),
        ),
        (
            "__proto__",
            "error: `__proto__` is reserved and cannot name a server\nhint: call it `proto-server`"
                .to_owned(),
        ),
        (
            "constructor",
            "error: `constructor` is reserved and cannot name a server\nhint: call it `constructor-server`"
                .to_owned(),
        ),
    ];
    for (name, err) in cases {
        assert_eq!(refused(&["add", name, "cmd"]), refusal(2, &err));
    }
    let long = refused(&["add", &"n".repeat(10_000), "cmd"]);
    assert_eq!(long.code, 2);
    assert!(
        long.err.contains("has 10000 characters; a server's name has at most 64") && long.err.len() < 300
    );
}

// U1 C10
#[test]
fn invalid_urls_are_refused() {
    let scheme = "error: `url` must begin with https:// or http://";
    let cases = [
        (
            "https://",
            "error: `url` is not a URL: empty host\nhint: a URL looks like `https://example.com/mcp`",
        ),
        (
            "https://h:99999/",
            "error: `url` is not a URL: invalid port number\nhint: a URL looks like `https://example.com/mcp`",
        ),
        ("ftp://h/x", scheme),
        ("file:///etc/passwd", scheme),
    ];
    for (url, err) in cases {
        assert_eq!(refused(&["add", "x", url]), refusal(3, err));
    }
}

// U1 C10
#[test]
fn entries_that_cannot_be_used_are_refused() {
    let cases = [
        (
            r#"{"x":1}"#,
            "error: neither `command` nor `url` is given\nhint: write `command` for a local server or `url` for a remote one",
        ),
        (
            r#"{"command":"x","url":"https://h/"}"#,
            "error: `command` and `url` are both given\nhint: keep `command` for a local server, or `url` for a remote one",
        ),
        (r#"{"command":7}"#, "error: `mcpServers.x.command` is a number, not a string"),
        (
            r#"{"type":"sdk","name":"x"}"#,
            "error: `sdk` servers come from a running program, never from a file\nhint: declare a stdio, http, sse or ws server",
        ),
    ];
    for (entry, err) in cases {
        assert_eq!(refused(&["add-json", "x", entry]), refusal(3, err));
    }
    let example = "hint: an entry looks like {\"type\":\"http\",\"url\":\"https://example.com/mcp\"}";
    assert_eq!(
        refused(&["add-json", "x", "[]"]),
        refusal(2, &format!("error: the entry is not a JSON object\n{example}"))
    );
    assert_eq!(
        refused(&["add-json", "x", "{\n\"command\": x}"]),
        refusal(2, &format!("error: the entry is not JSON: expected value at line 2 column 12\n{example}"))
    );
}

// U1
#[test]
fn a_name_is_taken_once_in_a_scope_whichever_of_its_files_it_stands_in() {
    for (scope, first, second) in [("user", "settings", "claude-json"), ("local", "claude-json", "settings")]
    {
        let world = World::new();
        world.ok(&["add", "-s", scope, "--file", first, "it", "x"]);
        let file = world.files().remove(0);
        let text = world.read(&file);
        for choice in [first, second] {
            assert_eq!(
                world.mcparley(&["add", "-s", scope, "--file", choice, "it", "y"]),
                refusal(
                    6,
                    &format!(
                        "error: `it` already exists in {scope} scope ({file})\nhint: `--force` \
                         replaces it, `mcparley remove it -s {scope}` removes it; or choose another name"
                    )
                )
            );
        }
        assert_eq!((world.files(), world.read(&file)), (vec![file.clone()], text));
    }
}

// U1
#[test]
fn the_same_name_may_stand_in_several_scopes() {
    let world = World::new();
    for scope in ["user", "project", "local"] {
        world.ok(&["add", "-s", scope, "it", "x"]);
    }
    assert_eq!(world.plan(), ["it local ready", "it project shadowed", "it user shadowed"]);
}
