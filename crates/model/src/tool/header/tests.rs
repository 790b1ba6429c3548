//! Tests of valid marks and their headers.

use serde_json::json;

use super::*;

fn read(properties: &Value) -> Result<Vec<HeaderParam>, HeaderFault> {
    HeaderParam::collect_params(&json!({"type": "object", "properties": properties}))
}

// B107 H26
#[test]
fn invalid_header_mark_is_a_fault() {
    let marked = |mark: Value| json!({"a": {"type": "string", "x-mcp-header": mark}});
    for name in [json!(""), json!("a b"), json!("a\r\nb"), json!("ä"), json!("a:"), json!(7), json!(null)] {
        assert_eq!(read(&marked(name.clone())), Err(HeaderFault::Name), "{name}");
    }
    let twice = json!({
        "a": {"type": "string", "x-mcp-header": "Region"},
        "b": {"type": "object", "properties": {"c": {"type": "string", "x-mcp-header": "region"}}}
    });
    assert_eq!(read(&twice), Err(HeaderFault::Duplicate));
    for kind in [json!("number"), json!("object"), json!("array"), json!(["string", "integer"]), json!(null)]
    {
        let schema = json!({"a": {"type": kind, "x-mcp-header": "X"}});
        assert_eq!(read(&schema), Err(HeaderFault::Kind), "{kind}");
    }
    assert_eq!(read(&json!({"a": {"x-mcp-header": "X"}})), Err(HeaderFault::Kind));
}

// B107
#[test]
fn header_mark_unreachable_by_property_names_is_a_fault() {
    let mark = json!({"type": "string", "x-mcp-header": "X"});
    for schema in [
        json!({"x-mcp-header": "X", "type": "string"}),
        json!({"$defs": {"x": mark}}),
        json!({"properties": {"a": {"type": "array", "items": mark}}}),
        json!({"properties": {"a": {"items": {"properties": {"b": mark}}}}}),
        json!({"anyOf": [{"properties": {"a": mark}}]}),
        json!({"properties": {"a": {"oneOf": [mark]}}}),
        json!({"if": {"properties": {"a": mark}}}),
        json!({"patternProperties": {"a": mark}}),
        json!({"additionalProperties": mark}),
    ] {
        assert_eq!(HeaderParam::collect_params(&schema), Err(HeaderFault::Place), "{schema}");
    }
}

// B107
#[test]
fn data_that_looks_like_a_header_mark_is_ignored() {
    let schema = json!({
        "properties": {
            "x-mcp-header": {"type": "number"},
            "a": {"type": "object", "default": {"x-mcp-header": ""}, "enum": [{"x-mcp-header": 1}]}
        },
        "$defs": {"x-mcp-header": {"type": "string"}}
    });
    assert_eq!(HeaderParam::collect_params(&schema), Ok(Vec::new()));
}

// B108
#[test]
fn present_arguments_become_headers() {
    let params = read(&json!({
        "region": {"type": "string", "x-mcp-header": "Region"},
        "deep": {"properties": {"count": {"type": "integer", "x-mcp-header": "Count"}}},
        "dry": {"type": ["boolean", "null"], "x-mcp-header": "Dry-Run"},
        "plain": {"type": "string"}
    }))
    .unwrap();
    let told = |arguments: Value| {
        let arguments = RawValue::from_string(arguments.to_string()).unwrap();
        let headers = param_headers(&params, &arguments);
        headers.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
    };
    assert_eq!(
        told(json!({"region": " é\n", "deep": {"count": -7}, "dry": true, "plain": "x"})),
        ["Mcp-Param-Region= é\n", "Mcp-Param-Count=-7", "Mcp-Param-Dry-Run=true"]
    );
    assert_eq!(told(json!({"region": null, "dry": false})), ["Mcp-Param-Dry-Run=false"]);
    assert_eq!(told(json!({"deep": {"count": 42.0}})), ["Mcp-Param-Count=42"]);
    let largest = (1_u64 << 53) - 1;
    assert_eq!(told(json!({"deep": {"count": largest}})), [format!("Mcp-Param-Count={largest}")]);
    for odd in [json!(largest + 1), json!(1.5), json!(1e300), json!([1]), json!({})] {
        assert_eq!(told(json!({"deep": {"count": odd}})), Vec::<String>::new(), "{odd}");
    }
    assert_eq!(told(json!([1])), Vec::<String>::new());
}

// B97 B107
#[test]
fn header_of_an_integer_may_be_written_otherwise_and_that_of_a_text_may_not() {
    let schema = json!({
        "text": {"type": "string", "x-mcp-header": "Text"},
        "count": {"type": ["integer", "null"], "x-mcp-header": "Count"},
    });
    let params = read(&schema).unwrap();
    let is_same = |name: &str, argument: &str, sent: &str| {
        let param = params.iter().find(|param| param.header_name().ends_with(name)).unwrap();
        param.is_same_value(argument, sent)
    };
    assert!(
        is_same("Text", "1e1", "1e1") && !is_same("Text", "1e1", "10") && !is_same("Text", "inf", "Infinity")
    );
    assert!(is_same("Count", "42", "42") && is_same("Count", "42", "42.0") && is_same("Count", "10", "1e1"));
    assert!(!is_same("Count", "9007199254740991", "9007199254740993") && !is_same("Count", "42", "42.5"));
    assert!(!is_same("Count", "42", "forty-two"));
}
