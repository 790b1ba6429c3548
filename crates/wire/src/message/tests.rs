//! Table tests of parsing every form of a message.

use super::*;

fn one(text: &str) -> String {
    let mut messages = parse_messages(&Bytes::copy_from_slice(text.as_bytes()));
    assert_eq!(messages.len(), 1, "{text}");
    match messages.remove(0) {
        RpcMessage::Request { id, method, .. } => {
            format!("request {} {method}", String::from_utf8_lossy(id.as_bytes()))
        }
        RpcMessage::Notification { method, .. } => format!("notification {method}"),
        RpcMessage::Response { id, outcome: Ok(result) } => {
            format!("result {id:?} {}", String::from_utf8_lossy(result.as_bytes()))
        }
        RpcMessage::Response { id, outcome: Err(error) } => format!("error {id:?} {}", error.code),
        RpcMessage::Damaged { id, damage, .. } => format!("damaged {id:?} {damage:?}"),
        RpcMessage::Noise => "noise".to_owned(),
    }
}

// B05 B06 B07 B08 B09 B10 K7
#[test]
fn every_form_is_sorted() {
    for (text, expected) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":{"a" : 1}}"#, r#"result Some(Number(1)) {"a" : 1}"#),
        (r#"{"jsonrpc":"2.0","id":"1","result":null}"#, "result Some(Number(1)) null"),
        (r#"{"jsonrpc":"2.0","id":1.0,"result":1}"#, "result Some(Number(1)) 1"),
        (r#"{"jsonrpc":"2.0","id":"x","result":1}"#, r#"result Some(Text("x")) 1"#),
        (r#"{"jsonrpc":"2.0","id":true,"result":1}"#, "result None 1"),
        (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":null}"#, "result Some(Number(1)) 1"),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601.0,"message":"m"}}"#,
            "error Some(Number(1)) -32601",
        ),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}"#, "error None -1"),
        (r#"{"jsonrpc":"2.0","error":{"code":-1,"message":"m"}}"#, "error None -1"),
        (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, "damaged Some(Number(1)) Error"),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}"#,
            "damaged Some(Number(1)) Both",
        ),
        (r#"{"jsonrpc":"2.0","id":1}"#, "damaged Some(Number(1)) Neither"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"re\u{17f}ult\":1}", "damaged Some(Number(1)) Neither"),
        (r#"{"jsonrpc":"2.0","\u0069d":1,"result":1}"#, "result Some(Number(1)) 1"),
        (r#"{"jsonrpc":"2.0","ID":1,"Result":1}"#, "damaged None Neither"),
        (r#"{"id":1,"result":1}"#, "damaged Some(Number(1)) Version"),
        (r#"{"jsonrpc":"1.0","id":1,"result":1}"#, "damaged Some(Number(1)) Version"),
        (r#"{"jsonrpc":2,"id":1,"result":1}"#, "damaged Some(Number(1)) Version"),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"result":1}"#, r#"damaged Some(Number(1)) Twice("id")"#),
        (r#"{"jsonrpc":"2.0","id":1,"result":1,"result":2}"#, r#"damaged Some(Number(1)) Twice("result")"#),
        (r#"{"jsonrpc":"2.0","id":1,"result":[1,2,,]}"#, "damaged Some(Number(1)) NotJson"),
        (r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#, "request 5 ping"),
        (r#"{"jsonrpc":"2.0","id":"a b","method":"ping"}"#, r#"request "a b" ping"#),
        (r#"{"jsonrpc":"2.0","method":"n","params":[]}"#, "notification n"),
        (r#"{"jsonrpc":"2.0","method":"n","method":"m"}"#, r#"damaged None Twice("method")"#),
        ("Content-Length: 5", "noise"),
        ("\u{1b}[31mlog", "noise"),
    ] {
        assert_eq!(one(text), expected, "{text}");
    }
}

// F103 T1
#[test]
fn a_damaged_line_is_a_message_only_by_its_members() {
    for (text, expected) in [
        ("[INFO] started", DamagedForm::Foreign),
        ("{ port: 3000 }", DamagedForm::Foreign),
        ("{", DamagedForm::Foreign),
        ("[", DamagedForm::Foreign),
        (r#"{"half":"#, DamagedForm::Foreign),
        (r#"{"level":30,"msg":"x"}"#, DamagedForm::Foreign),
        (r#"{"id":1,"msg":"x"}"#, DamagedForm::Foreign),
        (r#"{"method":"GET","path":"/"}"#, DamagedForm::Foreign),
        (r#"{"id":1,"method":"GET"}"#, DamagedForm::Foreign),
        (r#"{"result":"ok"}"#, DamagedForm::Foreign),
        (r#"{"error":"lost","jsonrpc"}"#, DamagedForm::Foreign),
        (r#"{"msg":"jsonrpc","at":{"jsonrpc":"2.0","id":1,"result":1"#, DamagedForm::Foreign),
        (r#"[DEBUG] <- {"jsonrpc":"2.0","id":1,"result":1}"#, DamagedForm::Foreign),
        (r#"{"id":1,"result":1}"#, DamagedForm::Unversioned),
        (r#"{"id":1,"error":"no"#, DamagedForm::Unversioned),
        (r#"{"jsonrpc":"2.0","method":"n","params":NaN}"#, DamagedForm::Request),
        (r#"{"jsonrpc":"2.0","id":1,"resul"#, DamagedForm::Answer),
        (r#"{"jsonrpc":"2.0","id":1,"result":[1,2,,]}"#, DamagedForm::Answer),
        (r#"{"result":{"text":"a " quote"},"jsonrpc":"2.0","id":1}"#, DamagedForm::Answer),
        (r#"[{"jsonrpc":"2.0","id":1,"result":1},"#, DamagedForm::Answer),
    ] {
        let form = match parse_messages(&Bytes::copy_from_slice(text.as_bytes())).pop() {
            Some(RpcMessage::Damaged { form, .. }) => Some(form),
            Some(_) | None => None,
        };
        assert_eq!(form, Some(expected), "{text}");
    }
}

// B03
#[test]
fn depth_is_no_danger() {
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let Some(RpcMessage::Response { outcome: Ok(result), .. }) = parse_messages(&Bytes::from(deep)).pop()
    else {
        panic!()
    };
    assert!(result.decode::<serde_json::Value>().is_err());
}

// B10
#[test]
fn batch_yields_all_its_messages() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","method":"n"}]"#;
    assert_eq!(parse_messages(&Bytes::from_static(batch.as_bytes())).len(), 2);
}

// B04
#[test]
fn a_batch_has_an_end() {
    let batch = |count: usize| Bytes::from(format!("[{}0]", "0,".repeat(count - 1)));
    assert_eq!(parse_messages(&batch(10_000)).len(), 10_000);
    for count in [10_001, 8_000_000] {
        let read = parse_messages(&batch(count));
        assert!(matches!(
            read.as_slice(),
            [RpcMessage::Damaged { id: None, damage: Damage::NotJson, form: DamagedForm::Foreign }]
        ));
    }
    assert!(matches!(parse_messages(&Bytes::from_static(b"[0] 1")).as_slice(), [RpcMessage::Damaged { .. }]));
    assert!(parse_messages(&Bytes::from_static(b"[ ]")).is_empty());
}

// B04 B09
#[test]
fn odd_numbers_and_characters_are_preserved() {
    for result in [
        "1e999999",
        "-0",
        r#""a\u0000b""#,
        "\"\u{2028}\"",
        r#""\ud800""#,
        &"9".repeat(100_000),
        r#"{"\u0000":1}"#,
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        assert_eq!(one(&line), format!("result Some(Number(1)) {result}"));
    }
    let with = |bytes: &[u8]| {
        let line = [br#"{"jsonrpc":"2.0","id":1,"result":{""#, bytes, br#"":1}}"#].concat();
        parse_messages(&Bytes::from(line)).pop()
    };
    let damaged = |message| matches!(message, Some(RpcMessage::Damaged { id: Some(Id::Number(1)), .. }));
    assert!(damaged(with(b"\xff\xfe")), "no text in a key");
    assert!(damaged(with(b"\x00")), "a bare NUL");
}

#[test]
fn encoded_messages_match_their_content() {
    let params = RawJson::from_text(r#"{"a":1}"#);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    assert_eq!(
        text(encode_request(3, "a\"b", Some(&params))),
        r#"{"jsonrpc":"2.0","id":3,"method":"a\"b","params":{"a":1}}"#
    );
    assert_eq!(text(encode_notification("n", None)), r#"{"jsonrpc":"2.0","method":"n"}"#);
    let id = RawJson::from_text(r#""x""#);
    assert_eq!(
        text(encode_error(Some(&id), &RpcError::new(-1, "no"))),
        r#"{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"no"}}"#
    );
    let more = RpcError::new(-1, "no").with_data(RawJson::from_text(r#"{"a": 1.0}"#));
    assert_eq!(
        text(encode_error(Some(&id), &more)),
        r#"{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"no","data":{"a": 1.0}}}"#
    );
}

// B05 H22
#[test]
fn an_answer_is_read_the_same_in_every_order_of_its_members() {
    let answers = [
        r#"{"jsonrpc":"2.0","id":12,"result":{"a":[1,"}"]}}"#,
        r#"{"result":{"a":[1,"}"]},"jsonrpc":"2.0","id":12}"#,
        r#"{"id":12,"jsonrpc":"2.0","result":{"a":[1,"}"]}}"#,
        r#"{ "jsonrpc": "2.0", "id": 12, "result": {"a":[1,"}"]} }"#,
        r#"{"jsonrpc":"2.0","id":12,"result":{"a":[1,"}"]},"more":{"id":1}}"#,
    ];
    for answer in answers {
        assert_eq!(one(answer), r#"result Some(Number(12)) {"a":[1,"}"]}"#, "{answer}");
    }
}

// B05 H22 K7
#[test]
fn line_that_only_resembles_a_plain_response_is_parsed_in_full() {
    for (text, expected) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"id":2}"#, r#"damaged Some(Number(1)) Twice("id")"#),
        (r#"{"result":1,"id":2,"jsonrpc":"2.0","id":1}"#, r#"damaged Some(Number(2)) Twice("id")"#),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"a":}}"#, "damaged Some(Number(1)) NotJson"),
        (r#"{"jsonrpc":"2.0","id":1,"result":}"#, "damaged Some(Number(1)) NotJson"),
        (r#"{"jsonrpc":"2.0","id":,"result":{}}"#, "damaged None NotJson"),
        (r#"{"jsonrpc":"2.0","id":01,"result":{}}"#, "damaged Some(Number(1)) NotJson"),
        (r#"{"result":"","jsonrpc":"2.0","id":1}"#, r#"result Some(Number(1)) """#),
        (r#"{"result":,"jsonrpc":"2.0","id":1}"#, "damaged Some(Number(1)) NotJson"),
    ] {
        assert_eq!(one(text), expected, "{text}");
    }
}
