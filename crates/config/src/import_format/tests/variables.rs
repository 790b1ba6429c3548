//! Variable references: text that apps do not expand must reach the server unchanged.

use proptest::prelude::*;

use super::*;

/// Our own expansion (C6) with no variable set: defaults only, in one pass.
fn expanded(text: &str) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (inside, tail) = after.split_once('}').unwrap();
        let (_, default) = inside.split_once(":-").unwrap();
        expanded.push_str(before);
        expanded.push_str(default);
        rest = tail;
    }
    expanded + rest
}

fn command(app: App, command: &str) -> String {
    let list = if app == App::Zed { "context_servers" } else { "mcpServers" };
    let text = json!({ list: { "a": { "command": command } } });
    only(app, &text.to_string()).entry["command"].as_str().unwrap().to_owned()
}

proptest! {
    // C16
    #[test]
    fn text_expands_to_itself_where_the_app_has_no_variables(text in "x[${}:A-C -]{0,24}") {
        for app in [App::ClaudeDesktop, App::Zed] {
            prop_assert_eq!(&expanded(&command(app, &text)), &text);
        }
    }
}

// C16
#[test]
fn references_are_rewritten() {
    let table = [
        (App::Cursor, "a${env:B}c${env: D }", "a${B}c${D}"),
        (App::Cursor, "${env:B", "${DOLLAR:-$}{env:B"),
        (App::Cursor, "${workspaceFolderBasename}", "${WORKSPACEFOLDERBASENAME}"),
        (App::Cursor, "${input:1st}", "${INPUT_1ST}"),
        (App::Windsurf, "${workspaceFolder}", "${DOLLAR:-$}{workspaceFolder}"),
        (App::Cline, "é${env:B}é", "é${B}é"),
        (App::GeminiCli, "$A$B-$C.d", "${A}${B}-${C}.d"),
        (App::GeminiCli, "$$A $ $1 é$", "$${A} $ $1 é$"),
        (App::GeminiCli, "${A:-b}", "${A:-b}"),
        (App::GeminiCli, "${A:-${B}}", "${DOLLAR:-$}{A:-${DOLLAR:-$}{B}}"),
    ];
    for (app, foreign, ours) in table {
        assert_eq!(command(app, foreign), ours, "{app}: {foreign}");
    }
}
