//! Tests of cautions about look-alike names of tools.

use crate::name::{ServerName, ToolName, ToolNameCaution, ToolNameRisk};

fn find(tools: &[(&str, &str)]) -> Vec<ToolNameCaution> {
    let tools: Vec<_> =
        tools.iter().map(|(server, tool)| (ServerName::new(server), ToolName::new(tool))).collect();
    ToolNameCaution::find_cautions(tools.iter().map(|(server, tool)| (server, tool)))
}

// B44
#[test]
fn tools_whose_names_differ_only_by_look_alike_letters_are_cautioned_about() {
    for tools in [
        [("a", "delete"), ("a", "d\u{435}lete")],
        [("a", "delete"), ("b", "d\u{435}lete")],
        [("a", "send_mail"), ("b", "sendM\u{430}il")],
        [("a", "copy"), ("a", "\u{441}\u{43e}\u{440}\u{443}")],
        [("a", "file"), ("b", "fi1e")],
        [("a", "log_out"), ("a", "l0g_out")],
        [("a", "read"), ("b", "\u{ff52}ead")],
        [("a", "Kill"), ("b", "\u{212a}ill")],
    ] {
        let cautions = find(&tools);
        assert_eq!(cautions.len(), 1, "{tools:?}: {cautions:?}");
        assert_eq!(cautions[0].is, ToolNameRisk::LookAlike, "{tools:?}");
        assert_eq!(cautions[0].tools.len(), 2, "{tools:?}");
    }
}

// B44
#[test]
fn names_that_differ_in_style_or_not_at_all_are_not_cautioned_about() {
    for tools in [
        [("a", "search"), ("b", "search")],
        [("a", "get_file"), ("b", "getFile")],
        [("a", "get-file"), ("a", "get.file")],
        [("a", "list1"), ("a", "list2")],
        [("a", "\u{43f}\u{43e}\u{438}\u{441}\u{43a}"), ("a", "\u{43f}\u{43e}\u{438}\u{441}\u{43a}_api")],
    ] {
        assert_eq!(find(&tools), [], "{tools:?}");
    }
}

// B44
#[test]
fn a_name_that_mixes_alphabets_is_cautioned_about_without_a_twin() {
    let cautions = find(&[("a", "d\u{435}lete_file"), ("b", "search")]);
    assert_eq!(cautions.len(), 1);
    assert_eq!(
        cautions[0].to_string(),
        "a name mixes letters of several alphabets that look the same: `d\u{435}lete_file` of `a` (with U+0435)"
    );
}

// B44
#[test]
fn a_caution_names_the_foreign_letters_and_its_servers() {
    let cautions = find(&[("a", "echo"), ("b", "echo"), ("c", "\u{435}\u{441}ho")]);
    assert_eq!(
        cautions[0].to_string(),
        "different tools have names that look alike: `\u{435}\u{441}ho` of `c` (with U+0435, U+0441), \
         `echo` of `a`, `echo` of `b`"
    );
    assert!(
        cautions[0].concerns_server(&ServerName::new("b"))
            && !cautions[0].concerns_server(&ServerName::new("d"))
    );
    let many: Vec<String> = (0..10).map(|index| format!("s{index}")).collect();
    let mut tools: Vec<(&str, &str)> = many.iter().map(|server| (server.as_str(), "echo")).collect();
    tools.push(("z", "\u{435}cho"));
    let told = find(&tools)[0].to_string();
    assert!(told.contains("`\u{435}cho` of `z`") && told.ends_with(" and 3 more"), "{told}");
}
