//! Tests that scripts are parsed from a command line.

use super::{Name, RequestedScript, SCRIPTS, ScriptArgument};
use std::collections::HashSet;

#[test]
fn every_script_has_default_argument_and_unique_word() {
    let words: HashSet<&str> = SCRIPTS.iter().map(|script| script.word).collect();
    assert_eq!(words.len(), SCRIPTS.len());
    for script in SCRIPTS {
        assert_eq!(RequestedScript::parse(script.word).map(|asked| asked.name), Ok(script.name));
    }
}

#[test]
fn arguments_are_parsed_by_shape() {
    let number = |name, number| Ok(RequestedScript { name, argument: ScriptArgument::Number(number) });
    let text =
        |name, text: &str| Ok(RequestedScript { name, argument: ScriptArgument::Text(text.to_owned()) });
    assert_eq!(RequestedScript::parse("huge:16"), number(Name::Huge, 16 * 1024 * 1024));
    assert_eq!(RequestedScript::parse("huge:17b"), number(Name::Huge, 17));
    assert_eq!(RequestedScript::parse("flood:5"), number(Name::Flood, 5));
    assert_eq!(RequestedScript::parse("status:503:once"), text(Name::Status, "503:once"));
    assert_eq!(RequestedScript::parse("discover:-32602"), text(Name::Discover, "-32602"));
}

#[test]
fn invalid_scripts_are_rejected() {
    for text in
        ["", "nonsense", "noise:many", "huge:1025", "huge:99999999999999999999b", "bom:1", "discover:x"]
    {
        assert!(RequestedScript::parse(text).is_err(), "{text}");
    }
}
