//! Texts from files and from standard input.

use std::path::Path;

use serde_json::{Value, json};

use super::{LIMIT, refusal, tool, typed_in};

fn file(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    // The writer of the product locks and syncs, which a test's own file does not need.
    std::io::Write::write_all(
        &mut std::fs::OpenOptions::new().write(true).create_new(true).open(&path).unwrap(),
        bytes,
    )
    .unwrap();
    path.to_string_lossy().into_owned()
}

fn arguments(word: &str, stdin: &str) -> Value {
    Value::Object(
        typed_in(&tool(), &[word], stdin).unwrap_or_else(|error| panic!("{word}: {error}")).arguments,
    )
}

// U2
#[test]
fn a_file_gives_the_text_or_the_json_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let object = file(folder.path(), "object", b"{\"path\": \"x\"}\n");
    let list = file(folder.path(), "list", b"[1, 2]");
    let nul = file(folder.path(), "nul", b"a\0b");
    assert_eq!(arguments(&format!("message=@{object}"), ""), json!({"message": "{\"path\": \"x\"}\n"}));
    assert_eq!(arguments(&format!("where=@{object}"), ""), json!({"where": {"path": "x"}}));
    assert_eq!(arguments(&format!("anything=@{object}"), ""), json!({"anything": "{\"path\": \"x\"}\n"}));
    assert_eq!(arguments(&format!("anything:=@{object}"), ""), json!({"anything": {"path": "x"}}));
    assert_eq!(arguments(&format!("ids=@{list}"), ""), json!({"ids": [1, 2]}));
    assert_eq!(arguments(&format!("message=@{nul}"), ""), json!({"message": "a\0b"}));
    assert_eq!(arguments("message=@-", "from input\n"), json!({"message": "from input\n"}));
    assert_eq!(arguments("count=@-", "3\n"), json!({"count": 3}));
}

// U2
#[test]
fn a_file_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let latin = file(folder.path(), "latin", b"ok\nna\xefve");
    let large = file(folder.path(), "large", &[b'x'; 1001]);
    let path = folder.path().to_string_lossy().into_owned();
    let cases = [
        (
            format!("message=@{latin}"),
            "file",
            format!("`message`: `{latin}` is not UTF-8 at line 2, column 3"),
        ),
        (format!("message=@{large}"), "file", format!("`message`: `{large}` is larger than {LIMIT} bytes")),
        (format!("message=@{path}"), "file", format!("`message`: `{path}` is a directory, not a file")),
        (format!("message=@{path}/none"), "file", format!("`message`: file `{path}/none` not found")),
        ("message=@".to_owned(), "file", "`message`: file `` not found".to_owned()),
        ("count=@/dev/null".to_owned(), "file", "`count`: `/dev/null` is a device, not a file".to_owned()),
    ];
    for (word, code, message) in cases {
        let refused = refusal(&[&word]);
        assert_eq!((refused.0, refused.1), (code, message));
    }
    assert_eq!(refusal(&["message=@a\0b"]).0, "file");
    let hint = refusal(&["message=@team"]).2;
    assert_eq!(hint, "write text that begins with `@` as `message:='\"@…\"'` or as an option");
}

// U2
#[test]
fn standard_input_is_read_once_and_within_its_limit() {
    let twice = typed_in(&tool(), &["message=@-", "anything=@-"], "x").unwrap_err();
    assert_eq!(twice.to_string(), "`anything=@-`: standard input was already read");
    let large = typed_in(&tool(), &["message=@-"], &"x".repeat(1001)).unwrap_err();
    assert_eq!(large.to_string(), "`message=@-`: standard input is larger than 1000 bytes");
    let list = typed_in(&tool(), &["-"], "[1]").unwrap_err();
    assert_eq!(list.to_string(), "standard input is not a JSON object");
    let words = ["-".to_owned()];
    let mut latin = [b'"', 0xef].as_slice();
    let error =
        super::parse_words(&tool(), &words, &[], &mut super::TextInput::new(&mut latin, LIMIT)).unwrap_err();
    assert_eq!(error.to_string(), "`-`: standard input is not UTF-8");
}
