//! Reconnect requests: each is taken once, by its server, and the file stays small.
use std::os::unix::fs::PermissionsExt;

use mcparley_model::config::{StdioConfig, TransportConfig};

use super::*;

fn config(command: &str) -> ServerConfig {
    let stdio = StdioConfig {
        command: command.to_owned(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: None,
        inherit_env: false,
    };
    ServerConfig::new(TransportConfig::Stdio(stdio))
}

fn paths(project: &str) -> Paths {
    Paths::new(Path::new("/home/user"), Path::new(project))
}

fn request(server: &str, command: &str) -> ReconnectRequest {
    ReconnectRequest::new(&paths("/projects/one"), &ServerName::new(server), &config(command))
}

// L6
#[test]
fn new_request_is_taken_once_and_an_old_one_never() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/reconnect.json");
    request("old", "old").write_to_file(&path).unwrap();
    let mut seen = SeenRequests::default();
    assert_eq!(seen.take_new(read_requests(&path)).len(), 1, "what is there at the start is taken as known");
    let (first, second) = (request("one", "one"), request("one", "one"));
    first.write_to_file(&path).unwrap();
    assert_eq!(seen.take_new(read_requests(&path)), [first]);
    assert_eq!(seen.take_new(read_requests(&path)), []);
    second.write_to_file(&path).unwrap();
    assert_eq!(seen.take_new(read_requests(&path)), [second], "the same server again is another request");
    assert_eq!(seen.take_new(None), [], "a file that cannot be read asks for nothing");
    assert_eq!(seen.take_new(read_requests(&path)), [], "and makes nothing new");
}

// L6
#[test]
fn request_is_for_its_server_by_name_in_its_project_and_by_signature_anywhere() {
    let request = request("one", "program");
    let is_for = |project: &str, name: &str, command: &str| {
        let signature = Signature::from_config(&config(command));
        request.is_for(&paths(project).project_key(), &ServerName::new(name), &signature)
    };
    assert!(is_for("/projects/one", "one", "program"));
    assert!(is_for("/projects/one", "one", "other"), "its variables may expand to something else there");
    assert!(is_for("/projects/two", "alias", "program"));
    assert!(!is_for("/projects/two", "one", "other"), "another server that has the name elsewhere");
    assert!(!is_for("/projects/one", "two", "other"));
}

// L6 B09
#[test]
fn file_is_private_bounded_and_replaced_when_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reconnect.json");
    for number in 0..RECONNECT_REQUESTS + 5 {
        let name = format!("server-{number}");
        request(&name, &name).write_to_file(&path).unwrap();
        request(&name, &name).write_to_file(&path).unwrap();
    }
    let kept = read_requests(&path).unwrap();
    assert_eq!(kept.len(), RECONNECT_REQUESTS);
    assert_eq!(kept.first().unwrap().server, "server-5");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    file::store_cache_file(&path, "{ damaged").unwrap();
    assert_eq!(read_requests(&path), None);
    request("one", "one").write_to_file(&path).unwrap();
    assert_eq!(read_requests(&path).unwrap().len(), 1);

    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(read_requests(&path), None, "others may have written it");
    assert!(request("one", "one").write_to_file(&path).is_err());
}
