//! `key=value` and whole objects.

use serde_json::json;

use super::{arguments, arguments_in, typed_in};

// U2
#[test]
fn each_form_makes_its_arguments_in_the_order_given() {
    let cases: [(&[&str], &str); 21] = [
        (&[], "{}"),
        (&[r#"{"message":"hi","count":1}"#], r#"{"message":"hi","count":1}"#),
        (&[" { } "], "{}"),
        (&["count=3", "message=hi"], r#"{"count":3,"message":"hi"}"#),
        (&["message=a=b"], r#"{"message":"a=b"}"#),
        (&["message="], r#"{"message":""}"#),
        (&["message==x"], r#"{"message":"=x"}"#),
        (&["message=3"], r#"{"message":"3"}"#),
        (&["message=true"], r#"{"message":"true"}"#),
        (&[r#"message="hi""#], r#"{"message":"\"hi\""}"#),
        (&[r#"message:="hi""#], r#"{"message":"hi"}"#),
        (&[r#"message:="@hi""#], r#"{"message":"@hi"}"#),
        (&["message:=3"], r#"{"message":3}"#),
        (&["tags=a", "count=1", "tags=b"], r#"{"tags":["a","b"],"count":1}"#),
        (&[r#"tags=["a","b"]"#, "tags=c"], r#"{"tags":["a","b","c"]}"#),
        (&["ids=1", "ids=2", "ids:=[3]", "ids:=4"], r#"{"ids":[1,2,3,4]}"#),
        (&["tags=[draft]"], r#"{"tags":["[draft]"]}"#),
        (&["tags=5"], r#"{"tags":["5"]}"#),
        (&["tags:=[]"], r#"{"tags":[]}"#),
        (&[r#"{"tags":["a"]}"#, "tags=b", "count=1"], r#"{"tags":["a","b"],"count":1}"#),
        (&["file-path=x", "dryRun=true"], r#"{"filePath":"x","dry_run":true}"#),
    ];
    for (words, expected) in cases {
        assert_eq!(arguments(words), expected, "{words:?}");
    }
}

// U2
#[test]
fn a_dot_goes_into_an_object_where_the_schema_has_one() {
    let cases: [(&[&str], &str); 8] = [
        (&["where.path=x"], r#"{"where":{"path":"x"}}"#),
        (&["where.path=x", "where.max-depth=2"], r#"{"where":{"path":"x","maxDepth":2}}"#),
        (&["where.deep.er=true"], r#"{"where":{"deep":{"er":true}}}"#),
        (&[r#"where={"path":"x"}"#, "where.maxDepth=2"], r#"{"where":{"path":"x","maxDepth":2}}"#),
        (&["labels.a.b=1"], r#"{"labels":{"a.b":"1"}}"#),
        (&["--where.deep.er", "--where.path=x"], r#"{"where":{"deep":{"er":true},"path":"x"}}"#),
        (&["--no-where.deep.er"], r#"{"where":{"deep":{"er":false}}}"#),
        (&["anything.a:=1"], r#"{"anything.a":1}"#),
    ];
    for (words, expected) in cases {
        assert_eq!(arguments(words), expected, "{words:?}");
    }
    let literal = json!({"properties": {"a.b": {"type": "integer"}, "a": {"type": "object"}}});
    assert_eq!(
        arguments_in(&literal, &["a.b=1"]),
        r#"{"a.b":1}"#,
        "a property of that very name comes first"
    );
}

// U2
#[test]
fn a_schema_that_is_open_takes_other_keys() {
    let nothing_said = json!({"type": "object"});
    assert_eq!(
        arguments_in(&nothing_said, &["a.b=1", "c=x", "--d", "2", "--e=y"]),
        r#"{"a.b":1,"c":"x","d":2,"e":"y"}"#
    );
    let open = json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}});
    assert_eq!(arguments_in(&open, &["other=1", "--more", "2"]), r#"{"other":"1","more":"2"}"#);
    let patterns = json!({"patternProperties": {"^x": {}}, "additionalProperties": false});
    assert_eq!(arguments_in(&patterns, &["xy=1"]), r#"{"xy":1}"#);
    let silent = json!({"properties": {"a": {}}});
    assert_eq!(arguments_in(&silent, &["b:=1"]), r#"{"b":1}"#, "JSON is what the person insists on");
    assert_eq!(arguments_in(&json!(true), &["a=1"]), r#"{"a":1}"#);
}

// U2
#[test]
fn standard_input_gives_the_whole_object() {
    let typed = typed_in(&super::tool(), &["-", "count=2"], "{\"message\": \"hi\"}\n").unwrap();
    assert_eq!(serde_json::Value::Object(typed.arguments).to_string(), r#"{"message":"hi","count":2}"#);
}
