//! Messages and addresses as the D-Bus specification defines them.

use super::*;

#[test]
fn call_is_encoded_as_specified() {
    let call = DBusCall::new("a.b", "/p", "i.f", "M").with_arguments("s", |values| {
        values.write_text("hi");
    });
    let expected = [
        b"l\x01\x00\x01".as_slice(),
        b"\x07\x00\x00\x00\x05\x00\x00\x00\x47\x00\x00\x00",
        b"\x01\x01o\x00\x02\x00\x00\x00/p\x00\x00\x00\x00\x00\x00",
        b"\x02\x01s\x00\x03\x00\x00\x00i.f\x00\x00\x00\x00\x00",
        b"\x03\x01s\x00\x01\x00\x00\x00M\x00\x00\x00\x00\x00\x00\x00",
        b"\x06\x01s\x00\x03\x00\x00\x00a.b\x00\x00\x00\x00\x00",
        b"\x08\x01g\x00\x01s\x00\x00",
        b"\x02\x00\x00\x00hi\x00",
    ]
    .concat();
    assert_eq!(call.into_message(5).as_slice(), expected);
}

#[test]
fn socket_addresses_are_parsed_and_others_skipped() {
    let path = |address: &str| {
        let address = socket_address(address)?;
        let name = address.as_abstract_name().map(|name| [b"@", name].concat());
        name.or_else(|| Some(address.as_pathname()?.as_os_str().as_encoded_bytes().to_owned()))
    };
    let table: [(&str, Option<&[u8]>); 6] = [
        ("unix:path=/run/user/1000/bus", Some(b"/run/user/1000/bus")),
        ("unix:path=/run/a%20b%2cc,guid=00ff", Some(b"/run/a b,c")),
        ("unix:guid=00ff,abstract=/tmp/dbus-1", Some(b"@/tmp/dbus-1")),
        ("unix:runtime=yes", None),
        ("tcp:host=localhost,port=1", None),
        ("", None),
    ];
    for (address, expected) in table {
        assert_eq!(path(address).as_deref(), expected, "{address}");
    }
}

// B61
#[test]
fn messages_that_lie_about_their_length_are_refused() {
    let start = |body: u32, head: u32| {
        let mut start = *b"l\x02\x00\x01bbbbssssffff";
        start[4..8].copy_from_slice(&body.to_le_bytes());
        start[12..16].copy_from_slice(&head.to_le_bytes());
        message::rest_bytes(&start)
    };
    assert_eq!(start(7, 9), Some(16 + 7));
    for (body, head) in [(u32::MAX, 0), (0, u32::MAX), (u32::MAX, u32::MAX), (65_000, 1_000)] {
        assert_eq!(start(body, head), None);
    }
    assert_eq!(message::rest_bytes(b"B\x02\x00\x01\0\0\0\0\0\0\0\0\0\0\0\0"), None);
    let mut message = b"l\x02\x00\x01\0\0\0\0\x01\0\0\0\x08\0\0\0".to_vec();
    for bytes in [&b"\x05\x01u\0\xff\xff\xff"[..], b"\x05\x07u\0\0\0\0\0", b"\x05\x01x\0\0\0\0\0"] {
        let mut cut = message.clone();
        cut.extend_from_slice(bytes);
        assert!(DBusReply::parse(cut, 1).is_none());
    }
    message.extend_from_slice(b"\x05\x01u\0\x01\0\0\0");
    assert!(matches!(DBusReply::parse(message.clone(), 1), Some(Some(Ok(_)))));
    assert!(matches!(DBusReply::parse(message, 2), Some(None)));
}
