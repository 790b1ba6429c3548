//! An edit changes one entry and leaves every other byte of the file as it is (C14, F78).

use std::os::unix::fs::PermissionsExt;

use crate::world::World;

const FILE: &str = "home/.claude.json";

const ADD: [&str; 7] = ["add", "-s", "user", "--file", "claude-json", "new", "cmd"];

/// Adds and removes a server; the text in between must be `expected`, afterwards `text` again.
fn assert_edited(text: &str, expected: &str) {
    let world = World::with(&[(FILE, text)]);
    world.ok(&ADD);
    assert_eq!(world.read(FILE), expected);
    world.ok(&["remove", "new"]);
    assert_eq!(world.read(FILE), text);
}

// C14 F78
#[test]
fn indentation_key_order_and_unknown_keys_stay() {
    for indent in ["  ", "    ", "\t"] {
        let text = |entry: &str| {
            format!(
                "{{\n> \"zebra\": 1,\n> \"mcpServers\": {{\n>> \"old\": {{\n>>> \"command\": \"x\",\n>>> \"x-mine\": \
                 [1,   2]\n>> }}{entry}\n> }},\n> \"alpha\":   {{\"b\":true,\"a\":null}}\n}}\n"
            )
            .replace("> ", ">")
            .replace('>', indent)
        };
        let new = ",\n>> \"new\": {\n>>> \"type\": \"stdio\",\n>>> \"command\": \"cmd\",\n>>> \"args\": [],\n>>> \
                   \"env\": {}\n>> }";
        assert_edited(&text(""), &text(new));
    }
}

// C14 F78
#[test]
fn line_ends_a_byte_order_mark_and_a_missing_last_line_end_stay() {
    let text = |entry: &str| {
        format!("{{\n  \"mcpServers\": {{\n    \"old\": {{\"command\": \"x\"}}{entry}\n  }}\n}}")
    };
    let new = ",\n    \"new\": {\n      \"type\": \"stdio\",\n      \"command\": \"cmd\",\n      \"args\": [],\n      \
               \"env\": {}\n    }";
    let variants: [fn(String) -> String; 4] = [
        |text| text,
        |text| format!("{text}\n"),
        |text| format!("{text}\n").replace('\n', "\r\n"),
        |text| format!("\u{feff}{text}\n\n"),
    ];
    for variant in variants {
        assert_edited(&variant(text("")), &variant(text(new)));
    }
}

// C14 F78
#[test]
fn comments_and_trailing_commas_stay() {
    let world = World::with(&[(
        FILE,
        "// first\n{\n  /* about */ \"mcpServers\": {\n    \"old\": { \"command\": \"x\" }, // why\n  },\n  // end\n}\n",
    )]);
    world.ok(&ADD);
    let text = world.read(FILE);
    for part in [
        "// first\n{\n  /* about */ \"mcpServers\": {\n",
        "{ \"command\": \"x\" }, // why\n",
        "  // end\n}\n",
    ] {
        assert!(text.contains(part), "{part:?} is gone from {text}");
    }
    assert_eq!(world.plan(), ["new user ready", "old user ready"]);
    world.ok(&["remove", "old"]);
    assert!(world.read(FILE).contains("// end"));
    assert_eq!(world.plan(), ["new user ready"]);
}

// C14
#[test]
fn choices_leave_the_rest_of_the_file_alone() {
    let text = "{\n\t\"numStartups\": 7,\n\t\"projects\": {\n\t\t\"/other\": {\"history\": [1, 2]}\n\t},\n\t\"z\": 1e3\n}";
    let world = World::with(&[(FILE, text)]);
    world.ok(&["add", "-s", "project", "it", "x"]);
    world.ok(&["approve", "it"]);
    world.ok(&["disable", "it"]);
    let edited = world.read(FILE);
    assert!(edited.starts_with(
        "{\n\t\"numStartups\": 7,\n\t\"projects\": {\n\t\t\"/other\": {\"history\": [1, 2]},\n"
    ));
    assert!(edited.ends_with("\n\t},\n\t\"z\": 1e3\n}"), "{edited}");
}

// C14
#[test]
fn the_mode_of_a_file_stays() {
    for mode in [0o600, 0o640, 0o644] {
        let world = World::with(&[(FILE, "{}")]);
        let path = world.root.join(FILE);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        world.ok(&ADD);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode);
    }
}

// C14
#[test]
fn a_link_stays_a_link_and_its_target_is_edited() {
    let world = World::with(&[("home/dotfiles/claude.json", "{}")]);
    std::os::unix::fs::symlink("dotfiles/claude.json", world.root.join(FILE)).unwrap();
    let done = world.ok(&ADD);
    assert!(done.ends_with("File: home/dotfiles/claude.json\n"), "{done}");
    assert!(world.root.join(FILE).is_symlink());
    assert!(world.read("home/dotfiles/claude.json").contains("\"new\""));
    assert_eq!(world.plan(), ["new user ready"]);
}

// C14
#[test]
fn an_empty_file_is_filled() {
    for text in ["", "\n", "{}", "{\n}\n"] {
        let world = World::with(&[(FILE, text)]);
        world.ok(&ADD);
        assert_eq!(world.plan(), ["new user ready"], "{text:?}");
    }
}

// C14
#[test]
fn of_a_key_written_twice_the_one_that_counts_is_edited() {
    let text = r#"{"mcpServers": {"dead": {"command": "x"}}, "mcpServers": {"old": {"command": "x"}}}"#;
    let world = World::with(&[(FILE, text)]);
    world.ok(&ADD);
    assert_eq!(world.plan(), ["new user ready", "old user ready"]);
    world.ok(&["remove", "old"]);
    assert_eq!(world.plan(), ["new user ready"]);
    assert_eq!(world.mcparley(&["remove", "dead"]).code, 5);
    assert!(world.read(FILE).starts_with(r#"{"mcpServers": {"dead": {"command": "x"}}, "#));
}

// B55
#[test]
fn one_more_among_ten_thousand_is_added_in_time() {
    let entries: Vec<String> = (0..10_000)
        .map(|n| format!("    \"server-{n}\": {{\"command\": \"x\", \"args\": [\"{n}\"]}}"))
        .collect();
    let world =
        World::with(&[(FILE, &format!("{{\n  \"mcpServers\": {{\n{}\n  }}\n}}\n", entries.join(",\n")))]);
    let start = std::time::Instant::now();
    world.ok(&ADD);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    assert_eq!(world.plan().len(), 10_001);
}
