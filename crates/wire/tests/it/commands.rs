//! Commands that run to their end, or are dropped before it.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use mcparley_platform::process::{ProcessExit, ProgramLaunch, SpawnError};
use mcparley_testkit::processes_with_variable;
use mcparley_wire::command::{GuardedCommandError, run_command};
use tokio::sync::Notify;

/// The variable that marks processes of these tests.
const MARK: &str = "COMMAND_MARK";

fn shell(script: &str) -> ProgramLaunch {
    ProgramLaunch {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: None,
    }
}

// K1 A7
#[tokio::test]
async fn command_gets_its_input_and_its_output_is_passed_on() {
    let (mut printed, mut said) = (Vec::new(), Vec::new());
    let print = |bytes: &[u8]| {
        printed.extend_from_slice(bytes);
        ControlFlow::Continue(())
    };
    let say = |bytes: &[u8]| said.extend_from_slice(bytes);
    let exit = run_command(&shell("cat; echo why >&2; exit 3"), b"input", print, say).await.unwrap();
    assert_eq!(exit, ProcessExit { code: Some(3), signal: None });
    assert_eq!((printed.as_slice(), said.as_slice()), (&b"input"[..], &b"why\n"[..]));
}

// K1 A7
#[tokio::test]
async fn command_that_cannot_be_started_returns_the_reason() {
    let launch = ProgramLaunch { program: "no-such-program".into(), ..shell("") };
    let error = run_command(&launch, &[], |_| ControlFlow::Continue(()), |_| ()).await.unwrap_err();
    assert!(matches!(error, GuardedCommandError::NotStarted(SpawnError::NotFound { .. })), "{error:?}");
}

/// Waits until no process with the variable is left.
async fn gone(value: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !processes_with_variable(MARK, value).is_empty() {
        assert!(Instant::now() < deadline, "something is left");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

// K1 A7 H01
#[tokio::test]
async fn children_of_a_command_end_when_it_prints_too_much_or_is_dropped() {
    let value = format!("command-{}", std::process::id());
    let mut launch = shell("setsid sleep 600 & yes");
    launch.env.push((MARK.into(), value.clone().into()));
    let error = run_command(&launch, &[], |_| ControlFlow::Break(()), |_| ()).await.unwrap_err();
    assert!(matches!(error, GuardedCommandError::OutputTooLarge), "{error:?}");
    gone(&value).await;
    let printed = Notify::new();
    let print = |_: &[u8]| {
        assert!(!processes_with_variable(MARK, &value).is_empty());
        printed.notify_one();
        ControlFlow::Continue(())
    };
    tokio::select! {
        ended = run_command(&launch, &[], print, |_| ()) => panic!("{ended:?}"),
        () = printed.notified() => {}
    }
    gone(&value).await;
}
