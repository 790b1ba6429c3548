//! Tests that a part shares the bytes of its message, and that a foreign value is copied.

use serde_json::value::RawValue;

use super::RawJson;

#[test]
fn part_shares_the_bytes_of_its_message() {
    let whole = RawJson::from_text(r#"{"a":[1, 2]}"#);
    let inner: std::collections::HashMap<String, &RawValue> =
        serde_json::from_slice(whole.as_bytes()).unwrap();
    let part = whole.share_slice(inner["a"]);
    assert_eq!(part.as_str(), "[1, 2]");
    assert!(whole.as_bytes().as_ptr_range().contains(&part.as_bytes().as_ptr()));
    let stranger = RawValue::from_string("[3]".into()).unwrap();
    assert_eq!(whole.share_slice(&stranger).as_str(), "[3]");
}
