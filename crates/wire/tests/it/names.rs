//! Host names that cannot be resolved, and names with an unreachable address.

use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};
use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_testkit::HttpServer;
use mcparley_wire::Failure;
use mcparley_wire::handshake::connect;

use crate::http_world::{NEW, Site};
use crate::namespace::alone;
use crate::world::introduction;

/// Resolves names by a name server of ours; IPv6 addresses are unreachable.
const PREPARE: &str = "
mount -t tmpfs tmpfs /mnt
printf 'nameserver 127.0.0.1\\noptions timeout:2 attempts:1\\n' > /mnt/resolv.conf
printf 'hosts: files dns\\n' > /mnt/nsswitch.conf
mount --bind /mnt/resolv.conf /etc/resolv.conf
mount --bind /mnt/nsswitch.conf /etc/nsswitch.conf
ip link add here type veth peer name there
ip link set here up
ip link set there up
ip -6 address add 2001:db8::1/64 dev here nodad
ip -6 neighbour add 2001:db8::2 lladdr 02:00:00:00:00:02 dev here nud permanent
";

const A: u16 = 1;
const AAAA: u16 = 28;

/// Answers by the first label of a name.
fn answer(question: &[u8]) -> Option<Vec<u8>> {
    let length = usize::from(*question.get(12)?);
    let word = question.get(13..13 + length)?;
    let name = question.get(12..)?.iter().position(|byte| *byte == 0)? + 13;
    let kind = u16::from_be_bytes([*question.get(name)?, *question.get(name + 1)?]);
    let (code, address) = match (word, kind) {
        (b"silent", _) => return None,
        (b"broken", _) => (2, None),
        (b"both", A) => (0, Some(Ipv4Addr::LOCALHOST.octets().to_vec())),
        (b"both", AAAA) => (0, Some(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2).octets().to_vec())),
        _ => (3, None),
    };
    let mut reply = question.get(..2)?.to_vec();
    reply.extend([0x81, 0x80 | code, 0, 1, 0, u8::from(address.is_some()), 0, 0, 0, 0]);
    reply.extend(question.get(12..name + 4)?);
    if let Some(address) = address {
        reply.extend([0xc0, 12, 0, u8::try_from(kind).ok()?, 0, 1, 0, 0, 0, 60]);
        reply.extend([0, u8::try_from(address.len()).ok()?]);
        reply.extend(address);
    }
    Some(reply)
}

fn serve_names() {
    let socket = UdpSocket::bind("127.0.0.1:53").unwrap();
    std::thread::spawn(move || {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            if let Some(reply) = buffer.get(..length).and_then(answer) {
                socket.send_to(&reply, from).unwrap();
            }
        }
    });
}

// F32 F60
#[test]
fn names_are_resolved_or_reported_and_unreachable_addresses_are_skipped() {
    alone("names::with_a_name_server_of_ours", PREPARE);
}

#[test]
#[ignore = "started by the test above, in a network of its own"]
fn with_a_name_server_of_ours() {
    serve_names();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for (name, cause) in
            [("gone", "Name or service not known"), ("broken", "Temporary failure in name resolution")]
        {
            let url = format!("http://{name}.example/mcp");
            let error = Site::at(&url).connect_as(Era::Auto).await.unwrap_err();
            let Failure::Refused { reason, hint, .. } = error else { unreachable!("{error:?}") };
            assert_eq!(*reason, format!("the name `{name}.example` cannot be resolved: {cause}"));
            assert!(hint.unwrap().contains("DNS"));
        }
        let server = HttpServer::start_with(&[], &NEW);
        let port = server.address().rsplit(':').next().unwrap().to_owned();
        let start = Instant::now();
        Site::at(&format!("http://both.example:{port}/mcp")).connect_as(Era::New).await.unwrap();
        let took = start.elapsed();
        assert!(took < Duration::from_secs(1), "{took:?}");
        assert!(took > Duration::from_millis(250), "the address that leads nowhere came first: {took:?}");

        let limit = Duration::from_millis(500);
        let start = Instant::now();
        let mut silent = Site::at("http://silent.example/mcp");
        let error = connect(&mut silent, Era::Auto, &introduction(), limit).await.unwrap_err();
        assert!(matches!(error, Failure::TimedOut { .. }), "{error:?}");
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    });
    let end = Instant::now();
    drop(runtime);
    assert!(
        end.elapsed() < Duration::from_millis(500),
        "the search goes on, and nobody waits: {:?}",
        end.elapsed()
    );
}

// F32
#[test]
fn silent_name_server_is_reported_in_the_end() {
    alone("names::with_a_silent_name_server", PREPARE);
}

#[tokio::test]
#[ignore = "started by the test above, in a network of its own"]
async fn with_a_silent_name_server() {
    serve_names();
    let error = Site::at("http://silent.example/mcp").connect_as(Era::Auto).await.unwrap_err();
    let Failure::Refused { reason, .. } = error else { unreachable!("{error:?}") };
    let expected = "the name `silent.example` cannot be resolved: Temporary failure in name resolution";
    assert_eq!(*reason, *expected);
}
