//! A fake session bus with scripted replies, or none.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::time::Instant;

use super::*;
use crate::vault::keychain::KeyFile;
use crate::vault::{EntryId, ExpectedEntry, Vault, VaultSettings};
use mcparley_model::limits;
use mcparley_model::secret::Secret;

const LIMIT: Duration = Duration::from_secs(10);

/// A reply: its signature and values, or the name of an error.
enum Answer {
    Values(&'static str, DBusWriter),
    Error(&'static str),
}

fn values(kind: &'static str, fill: impl FnOnce(&mut DBusWriter)) -> Answer {
    let mut values = DBusWriter::default();
    fill(&mut values);
    Answer::Values(kind, values)
}

fn object(path: &str) -> Answer {
    values("o", |values| {
        values.write_text(path);
    })
}

/// Lists of objects, and perhaps a prompt.
fn objects(kind: &'static str, lists: &[&[&str]], prompt: &str) -> Answer {
    values(kind, |values| {
        for list in lists {
            values.write_list(4, |values| {
                for path in *list {
                    values.write_text(path);
                }
            });
        }
        if !prompt.is_empty() {
            values.write_text(prompt);
        }
    })
}

fn session() -> Answer {
    values("vo", |values| {
        values.write_signature("s").write_text("").write_text("/session");
    })
}

fn secret(key: &DataKey) -> Answer {
    values("(oayays)", |values| {
        values
            .write_text("/session")
            .write_octets(&[])
            .write_octets(key.to_base64().as_bytes())
            .write_text("text/plain");
    })
}

/// The calls that a service received.
type Calls = std::thread::JoinHandle<Vec<String>>;

/// A service that sends these replies one after another, after the one to `Hello`.
fn service(answers: Vec<Answer>) -> (tempfile::TempDir, SecretService, Calls) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bus");
    let listener = UnixListener::bind(&path).unwrap();
    let serving = std::thread::spawn(move || serve(listener.accept().unwrap().0, answers));
    let address = format!("tcp:host=nowhere;unix:path={},guid=0", path.display());
    (folder, SecretService::new(Some(address), LIMIT), serving)
}

fn serve(stream: UnixStream, answers: Vec<Answer>) -> Vec<String> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    for (expected, answer) in
        [("\0AUTH EXTERNAL\r\n", "DATA\r\n"), ("DATA\r\n", "OK 00ff\r\n"), ("BEGIN\r\n", "")]
    {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line, expected);
        writer.write_all(answer.as_bytes()).unwrap();
    }
    let hello = values("s", |values| {
        values.write_text(":1.1");
    });
    let mut calls = Vec::new();
    for (number, answer) in std::iter::once(hello).chain(answers).enumerate() {
        calls.push(member(&mut reader));
        let serial = u32::try_from(number + 1).unwrap();
        // A broadcast signal comes first, and is no reply.
        writer.write_all(&message(4, None, &values("", |_| {}))).unwrap();
        let kind = if matches!(answer, Answer::Error(_)) { 3 } else { 2 };
        writer.write_all(&message(kind, Some(serial), &answer)).unwrap();
    }
    calls
}

/// Reads one message and returns the method it calls.
fn member(reader: &mut impl Read) -> String {
    let mut start = [0; 16];
    reader.read_exact(&mut start).unwrap();
    let number = |at: usize| u32::from_le_bytes(start[at..at + 4].try_into().unwrap()) as usize;
    let mut rest = vec![0; number(12).next_multiple_of(8) + number(4)];
    reader.read_exact(&mut rest).unwrap();
    let at = rest.windows(4).position(|window| window == b"\x03\x01s\0").unwrap();
    let length = rest[at + 4] as usize;
    String::from_utf8(rest[at + 8..at + 8 + length].to_vec()).unwrap()
}

fn message(kind: u8, answers: Option<u32>, answer: &Answer) -> Vec<u8> {
    let mut head = Vec::new();
    let mut field = |bytes: &[u8]| {
        head.resize(head.len().next_multiple_of(8), 0);
        head.extend_from_slice(bytes);
    };
    if let Some(serial) = answers {
        field(&[b"\x05\x01u\0".as_slice(), &serial.to_le_bytes()].concat());
    }
    let body = match answer {
        Answer::Values(kind, body) => {
            field(&[b"\x08\x01g\0", [kind.len() as u8].as_slice(), kind.as_bytes(), b"\0"].concat());
            body.clone().into_bytes().to_vec()
        }
        Answer::Error(name) => {
            let length = (name.len() as u32).to_le_bytes();
            field(&[b"\x04\x01s\0", length.as_slice(), name.as_bytes(), b"\0"].concat());
            Vec::new()
        }
    };
    let length = |bytes: &[u8]| (bytes.len() as u32).to_le_bytes();
    let mut out = [b"l", [kind, 0, 1].as_slice(), &length(&body), &[9, 0, 0, 0], &length(&head)].concat();
    out.extend_from_slice(&head);
    out.resize(out.len().next_multiple_of(8), 0);
    out.extend_from_slice(&body);
    out
}

// A2
#[test]
fn key_is_stored_in_the_default_collection_and_read_back() {
    let key = DataKey::generate().unwrap();
    let answers = vec![
        session(),
        object("/collection"),
        objects("aoo", &[&["/collection"]], "/"),
        values("oo", |values| {
            values.write_text("/item").write_text("/");
        }),
        objects("aoao", &[&["/item"], &[]], ""),
        secret(&key),
    ];
    let (_folder, service, calls) = service(answers);
    assert_eq!(service.store_key(&key).unwrap().expose(), key.expose());
    let expected = ["Hello", "OpenSession", "ReadAlias", "Unlock", "CreateItem", "SearchItems", "GetSecret"];
    assert_eq!(calls.join().unwrap(), expected);
}

// A2
#[test]
fn missing_key_is_none_and_locked_key_is_an_error() {
    let key = DataKey::generate().unwrap();
    let search = |unlocked: &[&str], locked: &[&str]| objects("aoao", &[unlocked, locked], "");
    let find = |answers: Vec<Answer>| {
        let (_folder, service, calls) = service(answers);
        let found = service.find_key(&key.id());
        calls.join().unwrap();
        found
    };
    assert!(find(vec![session(), search(&[], &[])]).unwrap().is_none());
    let prompted = vec![session(), search(&[], &["/item"]), objects("aoo", &[&[]], "/prompt")];
    assert!(matches!(find(prompted), Err(KeyPlaceError::Locked)));
    let opened = vec![session(), search(&[], &["/item"]), objects("aoo", &[&["/item"]], "/"), secret(&key)];
    assert_eq!(find(opened).unwrap().unwrap().id(), key.id());
    let locked = vec![Answer::Error("org.freedesktop.Secret.Error.IsLocked")];
    assert!(matches!(find(locked), Err(KeyPlaceError::Locked)));
    let absent = vec![Answer::Error("org.freedesktop.DBus.Error.ServiceUnknown")];
    assert!(matches!(find(absent), Err(KeyPlaceError::NotRunning)));
    let strange = vec![Answer::Error("org.example.\u{1b}[31mRed")];
    let why = find(strange).unwrap_err().to_string();
    assert!(why.starts_with("it reported: org.example.") && !why.contains('\u{1b}'), "{why}");
    let foreign = values("(oayays)", |values| {
        values.write_text("/session").write_octets(&[]).write_octets(b"hunter2").write_text("text/plain");
    });
    assert!(find(vec![session(), search(&["/item"], &[]), foreign]).unwrap().is_none());
}

#[test]
fn reply_with_the_wrong_signature_is_malformed() {
    let key = DataKey::generate().unwrap();
    for answers in [
        vec![object("/session")],
        vec![values("vo", |values| {
            values.write_signature("u").write_u32(1);
        })],
        vec![session(), object("/item")],
        vec![
            session(),
            values("aoao", |values| {
                values.write_u32(4_000_000_000);
            }),
        ],
        vec![session(), objects("aoao", &[&["/item"], &[]], ""), values("(oayays)", |_| {})],
    ] {
        let (_folder, service, calls) = service(answers);
        assert!(matches!(service.find_key(&key.id()), Err(KeyPlaceError::Malformed)));
        calls.join().unwrap();
    }
}

#[test]
fn without_a_bus_address_no_connection_is_made() {
    let nowhere = tempfile::tempdir().unwrap();
    let id = KeyId::placeholder();
    assert!(matches!(SecretService::new(None, LIMIT).find_key(&id), Err(KeyPlaceError::NoBus)));
    assert!(matches!(
        SecretService::new(Some("autolaunch:".into()), LIMIT).find_key(&id),
        Err(KeyPlaceError::NoBus)
    ));
    let gone = format!("unix:path={}/bus", nowhere.path().display());
    assert!(matches!(
        SecretService::new(Some(gone), LIMIT).find_key(&id),
        Err(KeyPlaceError::Unreachable(_))
    ));
}

// F84
#[tokio::test]
async fn silent_bus_times_out_once_and_the_next_place_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bus");
    let silent = Arc::new(UnixListener::bind(&path).unwrap());
    let session_bus = Some(format!("unix:path={}", path.display()));
    let file = Arc::new(KeyFile(folder.path().join("key")));
    let settings = VaultSettings { session_bus, ..VaultSettings::new(folder.path().join("vault")) };
    let service = SecretService::new(settings.session_bus.clone(), settings.keychain_time);
    let vault = Vault::with_keychains(settings, vec![Arc::new(service), file]);
    let start = Instant::now();
    let id = EntryId::new("server", "a");
    vault.write_entry(&id, Secret::new(b"one".to_vec()), ExpectedEntry::Absent).await.unwrap();
    let waited = start.elapsed();
    assert!(waited >= limits::KEYCHAIN_TIME - Duration::from_millis(100), "{waited:?}");
    assert!(waited <= limits::KEYCHAIN_TIME + Duration::from_secs(1), "{waited:?}");
    vault.write_entry(&id, Secret::new(b"two".to_vec()), ExpectedEntry::Any).await.unwrap();
    assert!(start.elapsed() <= limits::KEYCHAIN_TIME + Duration::from_secs(2));
    let told: Vec<String> = vault.take_notices().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("(Secret Service): it did not answer within 3s"), "{told:?}");
    assert_eq!(vault.key_location().await.unwrap().place(), KeyPlace::File);
    drop(silent);
}
