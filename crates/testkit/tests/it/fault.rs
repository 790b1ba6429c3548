//! Tests of the fault-injecting proxy.

use mcparley_testkit::{Fault, FaultProxy};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Starts an echo server.
fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || {
                let mut out = stream.try_clone().unwrap();
                std::io::copy(&mut &stream, &mut out).unwrap_or_default();
            });
        }
    });
    address
}

fn through(proxy: &FaultProxy) -> TcpStream {
    let stream = TcpStream::connect(proxy.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream
}

fn said_back(stream: &mut TcpStream, text: &str) -> std::io::Result<String> {
    stream.write_all(text.as_bytes())?;
    let mut back = vec![0; text.len()];
    stream.read_exact(&mut back)?;
    Ok(String::from_utf8(back).unwrap())
}

#[test]
fn delayed_and_trickled_bytes_arrive_complete_and_late() {
    let proxy = FaultProxy::for_server(&echo());
    let mut stream = through(&proxy);
    assert_eq!(said_back(&mut stream, "plain").unwrap(), "plain");
    for fault in [Fault::Delay(Duration::from_millis(50)), Fault::Trickle(Duration::from_millis(10))] {
        proxy.set_fault(fault);
        let start = Instant::now();
        assert_eq!(said_back(&mut stream, "0123456789").unwrap(), "0123456789");
        assert!(start.elapsed() >= Duration::from_millis(100), "{fault:?}");
    }
    assert_eq!(proxy.accepted_connections(), 1);
}

#[test]
fn stopped_connection_stays_open_and_resumes() {
    let proxy = FaultProxy::for_server(&echo());
    let mut stream = through(&proxy);
    assert_eq!(said_back(&mut stream, "plain").unwrap(), "plain");
    proxy.set_fault(Fault::Stop);
    let limit = Instant::now() + Duration::from_secs(10);
    while proxy.stalled_directions() < 2 {
        assert!(Instant::now() < limit, "both directions stop");
        thread::yield_now();
    }
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let error = said_back(&mut stream, "x").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
    proxy.set_fault(Fault::None);
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.read_exact(&mut [0]).unwrap();
}

#[test]
fn cut_closes_in_order_and_reset_does_not() {
    let proxy = FaultProxy::for_server(&echo());
    let mut stream = through(&proxy);
    assert_eq!(said_back(&mut stream, "plain").unwrap(), "plain");
    proxy.set_fault(Fault::Cut);
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    proxy.set_fault(Fault::None);
    let mut stream = through(&proxy);
    assert_eq!(said_back(&mut stream, "plain").unwrap(), "plain");
    proxy.set_fault(Fault::Reset);
    assert_eq!(stream.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
}
