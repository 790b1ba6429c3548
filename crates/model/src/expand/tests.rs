//! Tests of expansion for every form of a variable.

use super::*;
use crate::scope::Source;
use proptest::prelude::*;

fn template(text: &str) -> Template {
    Template { text: text.to_owned(), origin: ConfigOrigin::for_source(Source::from_label("test")) }
}

fn env() -> Env {
    [("A", "alpha"), ("EMPTY", ""), ("REF", "${A}"), ("LINES", "one\ntwo"), ("NUL", "a\0b")]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn expand(text: &str) -> Result<String, ExpandError> {
    template(text).expand(&env(), ExpansionKind::OneLine)
}

// C6 B51
#[test]
fn every_documented_form_has_its_result() {
    for (text, expected) in [
        ("plain", "plain"),
        ("${A}", "alpha"),
        ("x${A}y${A}", "xalphayalpha"),
        ("${MISSING:-}", ""),
        ("${MISSING:-x}y", "xy"),
        ("${MISSING:-a:-b}", "a:-b"),
        ("${A:-x}", "alpha"),
        ("${EMPTY:-x}", ""),
        ("$$", "$$"),
        ("$A", "$A"),
        ("a$", "a$"),
        ("}", "}"),
        ("", ""),
    ] {
        assert_eq!(expand(text).as_deref(), Ok(expected), "{text}");
    }
}

// C6 B51
#[test]
fn value_of_a_variable_is_not_expanded_again() {
    assert_eq!(expand("${REF}").as_deref(), Ok("${A}"));
}

// C6 B51
#[test]
fn every_malformed_form_has_its_error() {
    let origin = template("").origin;
    let name = |name: &str| (name.to_owned(), origin.clone());
    let cases: [(&str, ExpandError); 6] = [
        ("${MISSING}", {
            let (name, origin) = name("MISSING");
            ExpandError::Unset { name, origin }
        }),
        ("${A", ExpandError::Unclosed { origin: origin.clone() }),
        ("${}", {
            let (name, origin) = name("");
            ExpandError::BadName { name, origin }
        }),
        ("${env:A}", {
            let (name, origin) = name("env:A");
            ExpandError::BadName { name, origin }
        }),
        ("${1A}", {
            let (name, origin) = name("1A");
            ExpandError::BadName { name, origin }
        }),
        ("${A:-${B}}", {
            let (name, origin) = name("A");
            ExpandError::Nested { name, origin }
        }),
    ];
    for (text, expected) in cases {
        assert_eq!(expand(text), Err(expected), "{text}");
    }
}

// B52
#[test]
fn a_variable_cannot_add_a_line_to_a_header_or_end_a_string() {
    assert!(matches!(expand("Bearer ${LINES}"), Err(ExpandError::Forbidden { .. })));
    assert_eq!(template("${LINES}").expand(&env(), ExpansionKind::ManyLines).as_deref(), Ok("one\ntwo"));
    assert!(matches!(
        template("${NUL}").expand(&env(), ExpansionKind::ManyLines),
        Err(ExpandError::Forbidden { .. })
    ));
}

// B51
#[test]
fn expanded_text_is_limited_to_a_megabyte() {
    let huge: Env = [("HUGE".to_owned(), "x".repeat(EXPANDED_BYTES))].into_iter().collect();
    assert!(template("${HUGE}").expand(&huge, ExpansionKind::OneLine).is_ok());
    assert!(matches!(
        template("${HUGE}!").expand(&huge, ExpansionKind::OneLine),
        Err(ExpandError::TooLong { .. })
    ));
}

// C6 B62
#[test]
fn an_error_names_the_variable_and_never_a_value() {
    let error = template("${LINES}").expand(&env(), ExpansionKind::OneLine).unwrap_err();
    assert_eq!(error.to_string(), "the value of `LINES` contains a line break or NUL");
    assert!(!format!("{:?}", env()).contains("alpha"), "an environment shows names only");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    // C6: text without `${` is untouched, and expansion never panics.
    #[test]
    fn text_without_variables_is_untouched(text in "\\PC*") {
        if text.contains("${") {
            let _either = expand(&text);
        } else {
            prop_assert_eq!(expand(&text), Ok(text));
        }
    }

    // C6: the result is the pieces' values in order, for all values.
    #[test]
    fn one_pass_replaces_each_variable_by_its_value(value in "[^\\x00\\r\\n]{0,20}", before in "[a-z]{0,5}", after in "[a-z]{0,5}") {
        let env: Env = [("V".to_owned(), value.clone())].into_iter().collect();
        let expanded = template(&format!("{before}${{V}}{after}")).expand(&env, ExpansionKind::OneLine);
        prop_assert_eq!(expanded, Ok(format!("{before}{value}{after}")));
    }
}
