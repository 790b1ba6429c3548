//! Commands that are run to their end, or given up before it.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use mcparley_platform::process::{Exit, Launch, SpawnError};
use mcparley_testkit::processes_with_variable;
use mcparley_wire::command::{Unfinished, run};
use tokio::sync::Notify;

/// The variable by which processes of these tests are found.
const MARK: &str = "COMMAND_MARK";

fn shell(script: &str) -> Launch {
    Launch {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: None,
    }
}

// K1 A7
#[tokio::test]
async fn a_command_gets_its_input_and_all_it_writes_is_handed_on() {
    let (mut printed, mut said) = (Vec::new(), Vec::new());
    let print = |bytes: &[u8]| {
        printed.extend_from_slice(bytes);
        ControlFlow::Continue(())
    };
    let say = |bytes: &[u8]| said.extend_from_slice(bytes);
    let exit = run(&shell("cat; echo why >&2; exit 3"), b"input", print, say).await.unwrap();
    assert_eq!(exit, Exit { code: Some(3), signal: None });
    assert_eq!((printed.as_slice(), said.as_slice()), (&b"input"[..], &b"why\n"[..]));
}

// K1 A7
#[tokio::test]
async fn a_command_that_cannot_be_started_tells_why() {
    let launch = Launch { program: "no-such-program".into(), ..shell("") };
    let error = run(&launch, &[], |_| ControlFlow::Continue(()), |_| ()).await.unwrap_err();
    assert!(matches!(error, Unfinished::NotStarted(SpawnError::NotFound { .. })), "{error:?}");
}

/// Waits until nothing is left that was started with the variable.
async fn gone(value: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !processes_with_variable(MARK, value).is_empty() {
        assert!(Instant::now() < deadline, "something is left");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

// K1 A7 H01
#[tokio::test]
async fn what_a_command_has_started_ends_with_one_that_prints_too_much_or_is_given_up() {
    let value = format!("command-{}", std::process::id());
    let mut launch = shell("setsid sleep 600 & yes");
    launch.env.push((MARK.into(), value.clone().into()));
    let error = run(&launch, &[], |_| ControlFlow::Break(()), |_| ()).await.unwrap_err();
    assert!(matches!(error, Unfinished::TooMuch), "{error:?}");
    gone(&value).await;
    let printed = Notify::new();
    let print = |_: &[u8]| {
        assert!(!processes_with_variable(MARK, &value).is_empty());
        printed.notify_one();
        ControlFlow::Continue(())
    };
    tokio::select! {
        ended = run(&launch, &[], print, |_| ()) => panic!("{ended:?}"),
        () = printed.notified() => {}
    }
    gone(&value).await;
}
