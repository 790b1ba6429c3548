//! Results that are forwarded without being decoded.

use mcparley_model::expand::Env;

use super::*;

fn outcome(text: &str) -> ForwardableOutcome {
    ForwardableOutcome::from_answer(RawJson::parse(text).unwrap()).unwrap()
}

// G7
#[test]
fn usual_result_is_not_decoded() {
    for (text, is_error) in [
        (r#"{"content":[{"type":"text","text":"a\n"}]}"#, false),
        (r#"{"content":[],"structuredContent":{"a":1},"isError":false}"#, false),
        (r#"{"isError":true,"content":[{"type":"image","data":"AA==","mimeType":"image/png"}]}"#, true),
    ] {
        let outcome = outcome(text);
        assert!(matches!(outcome, ForwardableOutcome::Scanned(_)), "{text}");
        assert_eq!(outcome.is_error(), is_error, "{text}");
        let decoded = shape_outcome(RawJson::parse(text).unwrap()).unwrap();
        assert_eq!(outcome.into_outcome(), decoded, "{text}");
    }
}

// G7 B41 R1
#[test]
fn unusual_result_is_decoded() {
    for text in [
        r#"{"content":[{"type":"text","text":"\u202e"}]}"#,
        r#"{"content":[{"type":"text","text":"\ud83d"}]}"#,
        r#"{"content":[{"type":"text","text":"a"}],"isError":1}"#,
        r#"{"structuredContent":{"a":1}}"#,
        r#"{"content":[{"type":"text","text":"a","text":"b"}]}"#,
    ] {
        assert!(matches!(outcome(text), ForwardableOutcome::Shaped(_)), "{text}");
    }
    assert!(ForwardableOutcome::from_answer(RawJson::from_text("[]")).is_err());
}

// R2 G7
#[test]
fn scanned_result_fits_exactly_when_the_decoded_one_does() {
    let mut env = Env::default();
    env.set("MCPARLEY_MAX_RESULT_CHARS", "40");
    let budget = ResultBudget::from_env(&env);
    for length in 1..80 {
        let text = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, r#"\"x"#.repeat(length));
        let ForwardableOutcome::Scanned(scanned) = outcome(&text) else { panic!("{text}") };
        let decoded = shape_outcome(RawJson::parse(&text).unwrap()).unwrap();
        assert!(!scanned.fits_budget(budget) || crate::fits_budget(&decoded, budget), "{length}");
    }
    let image = r#"{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}]}"#;
    let ForwardableOutcome::Scanned(scanned) = outcome(image) else { panic!("{image}") };
    assert!(!scanned.fits_budget(budget), "images are stored");
}
