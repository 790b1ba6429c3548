//! Finding the request that a malformed message answers.

use super::*;
use proptest::prelude::*;

// K7
#[test]
fn outermost_id_is_found_in_malformed_json() {
    for (text, expected) in [
        (&br#"{"jsonrpc":"2.0","id":7,"result":{"content":[oops]}}"#[..], Some(7)),
        (br#"{"result":{"id":3,"x":"\"id\":4"}, "id" : "7", broken"#, Some(7)),
        (br#"{"result":{"id":3}}"#, None),
        (b"{\"id\":7.0,\"result\":\"\xff\xfe\"}", Some(7)),
        (br#"{"id":null,"#, None),
        (br#"{"ID":7}"#, None),
        (br#"{"id":7"#, None),
        (br#"{"id":1e5,"result":1}"#, None),
        (br#"{"id":7x,"result":1}"#, None),
        (br#"{"id":"7"x,"result":1}"#, None),
        (b"{\"id\":7\n}", Some(7)),
        (b"", None),
    ] {
        let expected = expected.map(Id::Number);
        assert_eq!(find_id(text), expected, "{}", String::from_utf8_lossy(text));
    }
    assert_eq!(find_last_id(br#"xxxx"},"jsonrpc":"2.0","id":9}"#), Some(Id::Number(9)));
}

// K7
#[test]
fn id_of_a_response_is_found_after_an_extra_quote_and_in_a_batch() {
    for text in [
        r#"{"result":{"text":"a " quote"},"jsonrpc":"2.0","id":7}"#,
        r#"[{"jsonrpc":"2.0","id":7,"result":{"content":[oops]}}]"#,
        r#"{"method":"id","jsonrpc":"2.0","id":7,"#,
    ] {
        let outline = MessageOutline::from_bytes(text.as_bytes());
        assert_eq!((outline.has_version, outline.id), (true, Some(Id::Number(7))), "{text}");
    }
    assert_eq!(
        MessageOutline::from_bytes(b"[INFO] {\"jsonrpc\":\"2.0\",\"id\":7}"),
        MessageOutline::default()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    // K7 B04: no bytes make it panic.
    #[test]
    fn salvage_never_panics_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _either = (find_id(&bytes), find_last_id(&bytes), MessageOutline::from_bytes(&bytes));
    }
}
