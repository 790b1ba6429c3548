//! The tools of servers are known from the cache before they run (L12).

use std::time::{Duration, SystemTime};

use mcparley::config::StartPolicy;
use mcparley::model::name::ServerName;
use mcparley::permission::Consent;
use mcparley::pool::connection::ServerStatus;
use mcparley::prompt::PromptCall;
use mcparley::{Call, CallError, Host, Paths};
use mcparley_testkit::{ScriptedStdio, log_starts};
use serde_json::{Value, json};

use crate::alive::{LONG, is_connected, own, scripted, stdio, with};
use crate::world::World;

/// A world whose hosts have a cache.
struct Remembering {
    world: World,
}

impl Remembering {
    fn new(servers: &Value) -> Self {
        let mut world = World::new();
        world.set("PATH", "/usr/bin:/bin");
        world.write("home/.claude.json", &json!({ "mcpServers": servers }).to_string());
        Self { world }
    }

    fn paths(&self) -> Paths {
        let mut paths = self.world.paths();
        paths.cache = Some(self.world.path("cache"));
        paths
    }

    /// A host as in a process of its own.
    async fn host(&self, start: StartPolicy) -> Host {
        let host = Host::builder(&self.paths(), &self.world.run_options).start_with(start).start();
        assert!(host.wait_until_ready(LONG).await.settled);
        host
    }

    /// One process that reaches every server.
    async fn warm(&self) {
        let host = self.host(StartPolicy::All).await;
        assert!(
            host.servers().iter().all(|server| is_connected(&server.state.status)),
            "{:?}",
            host.servers()
        );
        host.shut_down().await;
    }

    fn files(&self) -> Vec<std::path::PathBuf> {
        let folder = self.world.path("cache/surfaces");
        std::fs::read_dir(folder)
            .map(|all| all.map(|entry| entry.unwrap().path()).collect())
            .unwrap_or_default()
    }
}

fn names(host: &Host) -> Vec<String> {
    host.publish_catalog().iter().map(|entry| entry.name.to_string()).collect()
}

fn status(host: &Host, name: &str) -> ServerStatus {
    host.servers().into_iter().find(|server| server.name.as_str() == name).unwrap().state.status
}

// L12
#[tokio::test]
async fn a_new_process_knows_the_tools_before_any_server_runs_and_a_call_starts_the_one_it_needs() {
    let (_folder, log, _) = own("remembered");
    let (one, two) = (log.with_extension("one"), log.with_extension("two"));
    let logged = |log: &std::path::Path| stdio(&ScriptedStdio::new(&[]).with_log(log));
    let here = Remembering::new(&json!({ "one": logged(&one), "two": logged(&two) }));
    here.warm().await;
    let seen = {
        let host = here.host(StartPolicy::All).await;
        let seen = serde_json::to_string(&host.state().tools).unwrap();
        host.shut_down().await;
        seen
    };
    let started = (log_starts(&one).len(), log_starts(&two).len());

    let host = here.host(StartPolicy::AsNeeded).await;
    assert_eq!(serde_json::to_string(&host.state().tools).unwrap(), seen);
    assert!(matches!(status(&host, "one"), ServerStatus::Dormant));
    assert_eq!((log_starts(&one).len(), log_starts(&two).len()), started);
    let call = Call::new("mcp__one__echo", json!({ "message": "hi" })).with_consent(Consent::Given);
    assert_eq!(host.call(call).await.unwrap().to_text(), "hi");
    assert_eq!((log_starts(&one).len(), log_starts(&two).len()), (started.0 + 1, started.1));
}

// L12 N1
#[tokio::test]
async fn host_for_one_server_reads_only_the_lists_that_could_change_its_names() {
    let here = Remembering::new(&json!({
        "a": scripted(&[]),
        "a_": with(scripted(&[]), "cwd", "/"),
        "b": with(scripted(&[]), "cwd", "/usr"),
    }));
    here.warm().await;
    let all = here.host(StartPolicy::OnDemand).await;
    let host = here.host(StartPolicy::Only(vec![ServerName::new("a")])).await;
    let of = |host: &Host, server: &str| {
        let catalog = host.publish_catalog();
        let entries = catalog.iter().filter(|entry| entry.server().is_some_and(|it| it.as_str() == server));
        entries.map(|entry| entry.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of(&host, "a"), of(&all, "a"));
    assert_eq!(of(&host, "a_"), of(&all, "a_"));
    assert_ne!(of(&all, "b"), Vec::<String>::new());
    assert_eq!(of(&host, "b"), Vec::<String>::new());
}

// L12
#[tokio::test]
async fn servers_that_are_required_or_always_loaded_are_reached_at_once() {
    let here = Remembering::new(&json!({
        "lazy": with(scripted(&[]), "timeout", 1_000_001),
        "required": with(with(scripted(&[]), "required", true), "cwd", "/"),
        "always": with(with(scripted(&[]), "alwaysLoad", true), "cwd", "/usr"),
    }));
    here.warm().await;
    let host = here.host(StartPolicy::AsNeeded).await;
    assert!(matches!(status(&host, "lazy"), ServerStatus::Dormant));
    assert!(is_connected(&status(&host, "required")) && is_connected(&status(&host, "always")));
}

// L12 C10
#[tokio::test]
async fn cached_tools_belong_to_the_signature() {
    let here = Remembering::new(&json!({ "one": scripted(&[]) }));
    here.warm().await;
    here.world.write(
        "home/.claude.json",
        &json!({ "mcpServers": { "one": with(scripted(&[]), "env", json!({ "A": "b" })) } }).to_string(),
    );
    let host = here.host(StartPolicy::OnDemand).await;
    assert_eq!(names(&host).iter().filter(|name| name.starts_with("mcp__one")).count(), 0);
}

// L12
#[tokio::test]
async fn a_server_whose_program_has_changed_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server.sh");
    let scripted = ScriptedStdio::new(&[]);
    let text = format!("#!/bin/sh\nexec '{}' {}\n", scripted.program.display(), scripted.args.join(" "));
    std::fs::write(&script, &text).unwrap();
    let here = Remembering::new(&json!({ "one": { "command": "sh", "args": [script] } }));
    here.warm().await;
    assert!(matches!(status(&here.host(StartPolicy::AsNeeded).await, "one"), ServerStatus::Dormant));
    std::fs::write(&script, format!("{text}# another one\n")).unwrap();
    assert!(is_connected(&status(&here.host(StartPolicy::AsNeeded).await, "one")));
}

// L12 F86
#[tokio::test]
async fn stale_or_future_cache_is_shown_and_fetched_again() {
    let here = Remembering::new(&json!({ "one": scripted(&[]) }));
    here.warm().await;
    let day = Duration::from_secs(25 * 60 * 60);
    for time in [SystemTime::now() - day, SystemTime::now() + day] {
        let [file] = here.files().try_into().unwrap();
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
        let host = Host::builder(&here.paths(), &here.world.run_options).start();
        assert!(names(&host).contains(&"mcp__one__echo".to_owned()));
        assert!(matches!(status(&host, "one"), ServerStatus::Pending { .. }));
        assert!(host.wait_until_ready(LONG).await.settled);
        assert!(is_connected(&status(&host, "one")));
        host.shut_down().await;
        assert!(here.files()[0].metadata().unwrap().modified().unwrap().elapsed().unwrap() < LONG);
    }
}

// L12 B09
#[tokio::test]
async fn unreadable_cache_file_counts_as_none() {
    let here = Remembering::new(&json!({ "one": scripted(&[]) }));
    here.warm().await;
    let [file] = here.files().try_into().unwrap();
    let whole = std::fs::read(&file).unwrap();
    let half = &whole[..whole.len() / 2];
    for damaged in [half, b"", b"{}", b"\xff\xfe", b"[]"] {
        std::fs::write(&file, damaged).unwrap();
        let host = here.host(StartPolicy::AsNeeded).await;
        assert!(is_connected(&status(&host, "one")));
        host.shut_down().await;
        assert_eq!(std::fs::read(&file).unwrap(), whole, "it is written anew");
    }
}

/// Starts like the server, but its tools are other ones.
fn changed(here: &Remembering, change: impl Fn(&mut Value)) {
    let [file] = here.files().try_into().unwrap();
    let mut record: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    for tool in record["tools"].as_array_mut().unwrap() {
        if tool["tool"]["name"] == "echo" {
            change(&mut tool["tool"]);
        }
    }
    std::fs::write(&file, record.to_string()).unwrap();
}

// L12 B47
#[tokio::test]
async fn changed_tool_is_validated_and_permitted_again() {
    let here = Remembering::new(&json!({ "one": scripted(&[]) }));
    here.warm().await;
    changed(&here, |tool| {
        tool["description"] = json!("what it was");
        tool["inputSchema"] = json!({ "type": "object", "properties": { "old": { "type": "number" } } });
    });
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = std::sync::Arc::clone(&asked);
    let host = Host::builder(&here.paths(), &here.world.run_options).approver(Asking(seen)).start();
    assert!(host.wait_until_ready(LONG).await.settled);
    // Arguments that match the old schema do not match the new one.
    let error = host.call(Call::new("mcp__one__echo", json!({ "old": 1 }))).await.unwrap_err();
    assert!(matches!(error, CallError::Arguments { .. }), "{error}");
    host.shut_down().await;

    changed(&here, |tool| tool["description"] = json!("what it was"));
    asked.lock().unwrap().clear();
    let host = Host::builder(&here.paths(), &here.world.run_options)
        .approver(Asking(std::sync::Arc::clone(&asked)))
        .start();
    assert!(host.wait_until_ready(LONG).await.settled);
    let outcome = host.call(Call::new("mcp__one__echo", json!({ "message": "hi" }))).await.unwrap();
    assert_eq!(outcome.to_text(), "hi");
    let asked = asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert_eq!(asked[0], "what it was");
    assert_ne!(asked[1], "what it was");
}

/// A user that agrees to every question, with a record of them.
struct Asking(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

impl mcparley::Approver for Asking {
    fn ask_permission<'q>(
        &'q self,
        question: mcparley::PermissionQuestion<'q>,
    ) -> std::pin::Pin<Box<dyn Future<Output = mcparley::PermissionAnswer> + Send + 'q>> {
        self.0.lock().unwrap().push(question.entry.tool.description.to_string());
        Box::pin(std::future::ready(mcparley::PermissionAnswer::Allow))
    }
}

// L12
#[tokio::test]
async fn call_of_a_removed_tool_is_an_error() {
    let here = Remembering::new(&json!({ "one": scripted(&[]) }));
    here.warm().await;
    changed(&here, |tool| tool["name"] = json!("vanished"));
    let host = here.host(StartPolicy::AsNeeded).await;
    let call = Call::new("mcp__one__vanished", json!({ "message": "hi" })).with_consent(Consent::Given);
    let error = host.call(call).await.unwrap_err();
    assert!(matches!(error, CallError::UnknownTool { .. }), "{error}");
    assert!(error.to_string().contains("does not offer it"));
}

// L4 L12
#[tokio::test]
async fn era_is_cached_and_probed_again_when_it_is_wrong() {
    let (_folder, log, _) = own("era");
    let entry = |scripts: &[&str]| stdio(&ScriptedStdio::new(scripts).with_log(&log));
    let here = Remembering::new(&json!({ "one": entry(&[]) }));
    here.warm().await;
    let [file] = here.files().try_into().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let (is, was) = if text.contains(r#""era":"new""#) { ("new", "old") } else { ("old", "new") };
    let swapped = text.replace(&format!(r#""era":"{is}""#), &format!(r#""era":"{was}""#));
    assert_ne!(swapped, text);
    std::fs::write(&file, swapped).unwrap();
    let host = here.host(StartPolicy::AsNeeded).await;
    host.connect_server(&ServerName::new("one")).await.unwrap();
    assert!(is_connected(&status(&host, "one")));
}

// X3 X4 L12: asking for the prompt starts the server.
#[tokio::test]
async fn prompts_and_instructions_are_known_before_a_server_runs() {
    let (_folder, log, _) = own("remembered-prompts");
    let remembering = Remembering::new(&json!({ "one": stdio(&ScriptedStdio::new(&[]).with_log(&log)) }));
    remembering.warm().await;
    let host = remembering.host(StartPolicy::AsNeeded).await;
    let prompts: Vec<String> = host.prompts().iter().map(|prompt| prompt.name.to_string()).collect();
    assert_eq!(prompts, ["mcp__one__greet"]);
    let said = host.instructions().text();
    assert!(said.contains("## one\n\n> Tools for tests"), "{said}");
    assert_eq!(log_starts(&log).len(), 1);
    host.fetch_prompt(&PromptCall::new("mcp__one__greet")).await.unwrap();
    assert_eq!(log_starts(&log).len(), 2);
    host.shut_down().await;
}

impl Remembering {
    /// A host as the listing commands build it.
    fn lister(&self) -> mcparley::HostBuilder {
        Host::builder(&self.paths(), &self.world.run_options).skip_known_failures()
    }

    fn failures(&self) -> Vec<String> {
        let folder = self.world.path("cache/failures");
        let read = |entry: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(entry.unwrap().path());
        std::fs::read_dir(folder)
            .map(|all| all.map(|entry| read(entry).unwrap()).collect())
            .unwrap_or_default()
    }
}

fn is_remembered_failure(status: &ServerStatus) -> bool {
    matches!(status, ServerStatus::Failed(error) if error.ago.is_some())
}

// L12 F104
#[tokio::test]
async fn known_failure_is_reported_at_once_and_the_server_is_retried_on_use() {
    let (_folder, log, _) = own("failed");
    let here =
        Remembering::new(&json!({ "bad": stdio(&ScriptedStdio::new(&["exit-start"]).with_log(&log)) }));
    let host = here.host(StartPolicy::AsNeeded).await;
    let first = status(&host, "bad");
    assert!(matches!(&first, ServerStatus::Failed(error) if error.ago.is_none()), "{first:?}");
    host.shut_down().await;
    let starts = log_starts(&log).len();

    let host = here.lister().start();
    let known = status(&host, "bad");
    assert!(is_remembered_failure(&known), "{known:?}");
    assert!(known.reason().unwrap().starts_with(&first.reason().unwrap()));
    assert_eq!(log_starts(&log).len(), starts);
    host.connect_server(&ServerName::new("bad")).await.unwrap_err();
    assert!(log_starts(&log).len() > starts, "a call tries it anew");
    assert!(matches!(status(&host, "bad"), ServerStatus::Failed(error) if error.ago.is_none()));
    host.shut_down().await;

    let starts = log_starts(&log).len();
    let host = here.host(StartPolicy::All).await;
    assert!(log_starts(&log).len() > starts, "who asks for all tries it anew");
    host.shut_down().await;
}

// L12 F104
#[tokio::test]
async fn known_failed_server_is_retried_without_waiting() {
    let mut here = Remembering::new(&json!({ "hangs": scripted(&["hang-start"]), "works": scripted(&[]) }));
    here.world.set("MCP_TIMEOUT", "2000");
    let host = here.host(StartPolicy::AsNeeded).await;
    assert!(matches!(status(&host, "hangs"), ServerStatus::Failed(_)));
    host.shut_down().await;
    here.world.set("MCP_TIMEOUT", "600000");
    let host = here.host(StartPolicy::AsNeeded).await;
    assert!(is_remembered_failure(&status(&host, "hangs")));
    assert!(names(&host).contains(&"mcp__works__echo".to_owned()));
    host.shut_down().await;
}

// L12
#[tokio::test]
async fn failed_server_that_works_again_is_found_in_the_background_and_its_failure_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let (script, marker) = (folder.path().join("server.sh"), folder.path().join("marker"));
    let server = ScriptedStdio::new(&[]);
    let text = format!(
        "[ -e '{}' ] || exit 3\nexec '{}' {}\n",
        marker.display(),
        server.program.display(),
        server.args.join(" ")
    );
    std::fs::write(&script, text).unwrap();
    let here = Remembering::new(&json!({ "one": { "command": "sh", "args": [script] } }));
    let host = here.host(StartPolicy::AsNeeded).await;
    assert!(matches!(status(&host, "one"), ServerStatus::Failed(_)));
    host.shut_down().await;
    assert_eq!(here.failures().len(), 1);
    std::fs::write(&marker, "").unwrap();
    let host = Host::builder(&here.paths(), &here.world.run_options).start();
    assert!(is_remembered_failure(&status(&host, "one")));
    let mut events = host.server_events();
    while !is_connected(&status(&host, "one")) {
        tokio::time::timeout(LONG, events.recv()).await.unwrap().unwrap();
    }
    host.shut_down().await;
    assert_eq!(here.failures().len(), 0);
}

// L12
#[tokio::test]
async fn failure_of_a_server_whose_program_has_changed_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server.sh");
    std::fs::write(&script, "exit 3\n").unwrap();
    let here = Remembering::new(&json!({ "one": { "command": "sh", "args": [script] } }));
    here.host(StartPolicy::AsNeeded).await.shut_down().await;
    let host = here.lister().start();
    assert!(is_remembered_failure(&status(&host, "one")));
    host.shut_down().await;
    std::fs::write(&script, "exit 4 # mended\n").unwrap();
    let host = here.lister().start();
    assert!(!status(&host, "one").is_settled(), "it has to be asked");
    host.shut_down().await;
}

// L12 B62
#[tokio::test]
async fn remembered_failure_holds_no_secret_of_the_entry() {
    let here = Remembering::new(&json!({ "one": {
        "command": "sh",
        "args": ["-c", "echo \"token $TOKEN\" >&2; exit 3"],
        "env": { "TOKEN": "sk-very-secret-value" },
    } }));
    here.host(StartPolicy::AsNeeded).await.shut_down().await;
    let [failure] = here.failures().try_into().unwrap();
    assert!(failure.contains("token ") && !failure.contains("very-secret"), "{failure}");
}

/// A user that is present, but declines.
struct Silent;

impl mcparley::Elicitor for Silent {
    fn ask<'q>(
        &'q self,
        _question: mcparley::elicit::Elicitation<'q>,
    ) -> std::pin::Pin<Box<dyn Future<Output = mcparley::elicit::ElicitationReply> + Send + 'q>> {
        Box::pin(std::future::ready(mcparley::elicit::ElicitationReply::Decline))
    }
}

// L12
#[tokio::test]
async fn lists_are_remembered_by_what_the_client_can_do_and_overwrite_no_others() {
    let here = Remembering::new(&json!({ "one": scripted(&[]) }));
    here.warm().await;
    assert_eq!(here.files().len(), 1);
    let builder = || Host::builder(&here.paths(), &here.world.run_options).elicitor(Silent);
    // The list of another client is shown, and fetched again.
    let host = builder().start();
    assert!(names(&host).contains(&"mcp__one__echo".to_owned()));
    assert!(matches!(status(&host, "one"), ServerStatus::Pending { .. }));
    assert!(host.wait_until_ready(LONG).await.settled);
    host.shut_down().await;
    assert_eq!(here.files().len(), 2);
    let host = builder().start();
    assert!(matches!(status(&host, "one"), ServerStatus::Dormant));
    host.shut_down().await;
    assert!(matches!(status(&here.host(StartPolicy::AsNeeded).await, "one"), ServerStatus::Dormant));
}

// L12
#[tokio::test]
async fn lists_are_remembered_in_every_folder_where_the_entry_means_the_same_program() {
    let server = ScriptedStdio::new(&[]);
    let here = Remembering::new(&json!({
        "everywhere": scripted(&[]),
        "relative": { "command": "sh", "args": ["server.sh"] },
    }));
    let script = format!("exec '{}' {}\n", server.program.display(), server.args.join(" "));
    for folder in ["home/project", "home/other"] {
        here.world.write(&format!("{folder}/server.sh"), &script);
    }
    here.warm().await;
    let mut paths = here.paths();
    paths.cwd = here.world.path("home/other");
    paths.project = paths.cwd.clone();
    let host = Host::builder(&paths, &here.world.run_options).start_with(StartPolicy::OnDemand).start();
    let known = names(&host);
    assert!(known.contains(&"mcp__everywhere__echo".to_owned()), "{known:?}");
    assert!(!known.contains(&"mcp__relative__echo".to_owned()), "it is another program there: {known:?}");
    host.shut_down().await;
}
