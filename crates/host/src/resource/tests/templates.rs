//! The examples of RFC 6570 for string values, and hostile templates.

use std::time::{Duration, Instant};

use crate::resource::template::{TemplateError, expand_uri};

const VALUES: [(&str, &str); 9] = [
    ("var", "value"),
    ("hello", "Hello World!"),
    ("half", "50%"),
    ("empty", ""),
    ("path", "/foo/bar"),
    ("x", "1024"),
    ("y", "768"),
    ("who", "fred"),
    ("base", "http://example.com/home/"),
];

/// With only those values that the template names.
fn expanded(template: &str) -> Result<String, TemplateError> {
    let named: Vec<(&str, &str)> = VALUES
        .into_iter()
        .filter(|(name, _)| template.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == *name))
        .collect();
    expand_uri(template, &named)
}

// X1
#[test]
fn templates_expand_as_rfc_6570_says() {
    let table = [
        ("{var}", "value"),
        ("{hello}", "Hello%20World%21"),
        ("{+var}", "value"),
        ("{+hello}", "Hello%20World!"),
        ("{half}", "50%25"),
        ("{+half}", "50%25"),
        ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
        ("{+base}index", "http://example.com/home/index"),
        ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("{+path}/here", "/foo/bar/here"),
        ("here?ref={+path}", "here?ref=/foo/bar"),
        ("up{+path}{var}/here", "up/foo/barvalue/here"),
        ("X{#var}", "X#value"),
        ("X{#hello}", "X#Hello%20World!"),
        ("map?{x,y}", "map?1024,768"),
        ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("{#path,x}/here", "#/foo/bar,1024/here"),
        ("X{.var}", "X.value"),
        ("X{.x,y}", "X.1024.768"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{;x,y,empty}", ";x=1024;y=768;empty"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{var:3}", "val"),
        ("{var:30}", "value"),
        ("{+path:6}/here", "/foo/b/here"),
        ("{/var*}", "/value"),
        ("{?undef,y}", "?y=768"),
        ("{?undef}", ""),
        ("ü {var} %41 100%", "%C3%BC%20value%20%41%20100%25"),
        ("", ""),
    ];
    for (template, uri) in table {
        assert_eq!(expanded(template).as_deref(), Ok(uri), "{template}");
    }
}

// X1
#[test]
fn invalid_template_error_has_its_position() {
    let table = [
        ("a{b", "the template cannot be read: `{` without `}` at byte 1"),
        ("ab}c", "the template cannot be read: `}` without `{` at byte 2"),
        ("{}", "the template cannot be read: a variable without a name at byte 0"),
        ("x{a b}", "the template cannot be read: a variable without a name at byte 1"),
        ("{a,,b}", "the template cannot be read: a variable without a name at byte 0"),
        ("{var:0}", "the template cannot be read: a prefix that is no number below 10000 at byte 0"),
        ("{{var}}", "the template cannot be read: a variable without a name at byte 0"),
    ];
    for (template, message) in table {
        assert_eq!(expand_uri(template, &[]).unwrap_err().to_string(), message, "{template}");
    }
    let error = expand_uri("{a}", &[("b", "x")]).unwrap_err();
    assert_eq!(error.to_string(), "the template has no variable `b`");
}

// H25
#[test]
fn hostile_template_is_bounded_in_time_and_length() {
    let begun = Instant::now();
    let many = "{a}".repeat(20_000);
    assert!(matches!(
        expand_uri(&many, &[("a", "x")]),
        Err(TemplateError::Syntax { .. } | TemplateError::Unknown { .. })
    ));
    let open = "{".repeat(60_000);
    assert!(expand_uri(&open, &[]).is_err());
    let value = "x".repeat(60_000);
    assert_eq!(expand_uri("{a}{a}", &[("a", &value)]), Err(TemplateError::TooLong { limit: 64 * 1024 }));
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
}
