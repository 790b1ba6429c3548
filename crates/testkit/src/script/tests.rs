//! Reading scripts from a command line.

use super::{Argument, Asked, Name, SCRIPTS};
use std::collections::HashSet;

#[test]
fn every_script_can_be_named_bare_and_only_once() {
    let words: HashSet<&str> = SCRIPTS.iter().map(|script| script.word).collect();
    assert_eq!(words.len(), SCRIPTS.len());
    for script in SCRIPTS {
        assert_eq!(Asked::read(script.word).map(|asked| asked.name), Ok(script.name));
    }
}

#[test]
fn arguments_are_read_by_their_shape() {
    let number = |name, number| Ok(Asked { name, argument: Argument::Number(number) });
    let text = |name, text: &str| Ok(Asked { name, argument: Argument::Text(text.to_owned()) });
    assert_eq!(Asked::read("huge:16"), number(Name::Huge, 16 * 1024 * 1024));
    assert_eq!(Asked::read("huge:17b"), number(Name::Huge, 17));
    assert_eq!(Asked::read("flood:5"), number(Name::Flood, 5));
    assert_eq!(Asked::read("status:503:once"), text(Name::Status, "503:once"));
    assert_eq!(Asked::read("discover:-32602"), text(Name::Discover, "-32602"));
}

#[test]
fn what_cannot_be_told_is_refused() {
    for text in
        ["", "nonsense", "noise:many", "huge:1025", "huge:99999999999999999999b", "bom:1", "discover:x"]
    {
        assert!(Asked::read(text).is_err(), "{text}");
    }
}
