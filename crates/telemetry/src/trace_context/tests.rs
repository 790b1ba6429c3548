//! `traceparent`: the valid and the invalid ones.

use proptest::prelude::*;

use super::TraceContext;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "b7ad6b7169203331";

fn parse(traceparent: &str) -> Option<TraceContext> {
    TraceContext::parse(traceparent, None)
}

// G6
#[test]
fn traceparent_is_written_as_it_was_read() {
    for flags in ["00", "01"] {
        let text = format!("00-{TRACE}-{SPAN}-{flags}");
        let context = TraceContext::parse(&text, Some("vendor=1,other=2")).unwrap();
        assert_eq!(context.to_traceparent(), text);
        assert_eq!(context.tracestate(), Some("vendor=1,other=2"));
        assert_eq!((context.trace.to_string(), context.span.to_string()), (TRACE.into(), SPAN.into()));
    }
}

// G6
#[test]
fn later_version_is_read_as_far_as_it_is_known() {
    let context = parse(&format!("cc-{TRACE}-{SPAN}-09-what-comes-later")).unwrap();
    assert_eq!(context.to_traceparent(), format!("00-{TRACE}-{SPAN}-01"));
}

// G6
#[test]
fn wrong_traceparent_is_refused() {
    let wrong = [
        String::new(),
        "00".to_owned(),
        format!("ff-{TRACE}-{SPAN}-01"),
        format!("00-{TRACE}-{SPAN}-01-more"),
        format!("01-{TRACE}-{SPAN}-01more"),
        format!("00-{TRACE}-{SPAN}"),
        format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
        format!("00-{}-{SPAN}-01", "0".repeat(32)),
        format!("00-{TRACE}-{}-01", "0".repeat(16)),
        format!("00-{TRACE}{SPAN}--01"),
        format!("00-{TRACE}-{SPAN}-+1"),
        format!("00-{TRACE}-{}é-01", "a".repeat(14)),
    ];
    for text in wrong {
        assert_eq!(parse(&text), None, "{text}");
    }
}

// G6
#[test]
fn tracestate_that_is_too_long_is_left_out() {
    let text = format!("00-{TRACE}-{SPAN}-01");
    let long = "v=".to_owned() + &"1".repeat(511);
    assert_eq!(TraceContext::parse(&text, Some(&long)).unwrap().tracestate(), None);
    assert_eq!(TraceContext::parse(&text, Some(&long[..512])).unwrap().tracestate(), Some(&long[..512]));
}

proptest! {
    // G6
    #[test]
    fn any_text_is_refused_or_read_without_a_panic(text in "\\PC{0,80}", state in "\\PC{0,20}") {
        if let Some(context) = TraceContext::parse(&text, Some(&state)) {
            prop_assert_eq!(&context.to_traceparent()[3..52], &text.trim()[3..52]);
        }
    }
}
