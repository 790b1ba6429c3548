//! Shows that a part shares the bytes of its whole, and that a stranger is copied.

use serde_json::value::RawValue;

use super::RawJson;

#[test]
fn a_part_shares_the_bytes_of_its_whole() {
    let whole = RawJson::from_text(r#"{"a":[1, 2]}"#);
    let inner: std::collections::HashMap<String, &RawValue> =
        serde_json::from_slice(whole.as_bytes()).unwrap();
    let part = whole.part(inner["a"]);
    assert_eq!(part.as_str(), "[1, 2]");
    assert!(whole.as_bytes().as_ptr_range().contains(&part.as_bytes().as_ptr()));
    let stranger = RawValue::from_string("[3]".into()).unwrap();
    assert_eq!(whole.part(&stranger).as_str(), "[3]");
}
