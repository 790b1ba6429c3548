//! Filling in forms by keys.

use mcparley::elicit::{FieldChoice, FieldKind};
use serde_json::{Value, json};

use super::field_rule::{check_value, describe_kind};

fn text(format: Option<&str>) -> FieldKind {
    FieldKind::Text { format: format.map(str::to_owned), shortest: None, longest: None }
}

// X5
#[test]
fn value_that_breaks_a_rule_is_explained() {
    let number = |whole| FieldKind::Number { whole, least: Some(0.into()), most: Some(150.into()) };
    let among = vec![FieldChoice { value: "a".to_owned(), title: "A".to_owned() }];
    let choices = FieldKind::Choices { among, least: Some(1), most: Some(2) };
    let short = FieldKind::Text { format: None, shortest: Some(2), longest: None };
    let cases: [(&FieldKind, Value, Result<(), &str>); 14] = [
        (&number(true), json!(36), Ok(())),
        (&number(true), json!(151), Err("must be 0 to 150")),
        (&number(false), json!(-0.5), Err("must be 0 to 150")),
        (&choices, json!(["a"]), Ok(())),
        (&choices, json!([]), Err("choose 1 to 2")),
        (&short, json!("x"), Err("must have at least 2 characters")),
        (&text(Some("email")), json!("ada@example.com"), Ok(())),
        (&text(Some("email")), json!("ada"), Err("must be an email address")),
        (&text(Some("uri")), json!("https://example.com"), Ok(())),
        (&text(Some("uri")), json!("example"), Err("must be a URL such as https://example.com")),
        (&text(Some("date")), json!("2026-02-30"), Err("must be a date such as 2026-01-31")),
        (&text(Some("date")), json!("2026-02-28"), Ok(())),
        (
            &text(Some("date-time")),
            json!("2026-02-28"),
            Err("must be a date and time such as 2026-01-31T09:30:00Z"),
        ),
        (&text(Some("date-time")), json!("2026-02-28T10:00:00+01:00"), Ok(())),
    ];
    for (kind, value, expected) in cases {
        assert_eq!(check_value(kind, &value), expected.map_err(str::to_owned), "{kind:?} {value}");
    }
    assert_eq!(describe_kind(&number(true)), "a whole number, 0 to 150");
    assert_eq!(describe_kind(&text(None)), "text");
}
