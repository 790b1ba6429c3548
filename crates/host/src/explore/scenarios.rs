//! What is tried out, each in thousands of schedules.

use std::time::Duration;

use mcparley_model::config::{ServerConfig, Stdio, Transport};
use mcparley_model::limits::RECONNECT_ATTEMPTS;
use shuttle::future::JoinHandle;
use shuttle::scheduler::{RandomScheduler, UncontrolledNondeterminismCheckScheduler};

use super::executor::number;
use super::server::Manner;
use super::world::{World, config};
use super::{FEWER, SCHEDULES, SEED, explore, run, until};
use crate::connection::{CALLS_GRACE, Connection, Epoch, Status, Unavailable};

/// How many callers meet the same trouble.
const CALLERS: usize = 4;

// L4 L7 F67: some callers see the end, others think the session expired, and the actor hears of the end itself.
#[test]
fn callers_of_a_connection_that_ends_share_one_reopening() {
    explore(SCHEDULES, ending);
}

async fn ending() {
    let mut world = World::new(Manner::Steady);
    let first = world.first().await;
    let killer = world.kill(&first);
    let callers: Vec<_> = (0..CALLERS).map(|_| world.call(first.epoch)).collect();
    killer.await.unwrap();
    drop(first);
    let mut given = Vec::new();
    for caller in callers {
        given.push(caller.await.unwrap().expect("the server is well"));
    }
    assert!(given.iter().all(|epoch| *epoch == given[0]), "they share one: {given:?}");
    world.connected().await;
    assert_eq!(world.server.openings(), 2, "one reopening for all");
    world.end().await;
}

// L7: who still has a call running on the expired session keeps it until the call has ended.
#[test]
fn an_expired_session_is_reopened_once_and_ends_with_its_last_call() {
    explore(SCHEDULES, expiring);
}

async fn expiring() {
    let mut world = World::new(Manner::Steady);
    let first = world.first().await;
    let callers: Vec<_> = (0..CALLERS).map(|_| world.call(first.epoch)).collect();
    for caller in callers {
        caller.await.unwrap().expect("the server is well");
    }
    assert!(!first.session.peer().is_over(), "a call may still be running");
    assert_eq!(world.server.open(), 2);
    drop(first);
    world.connected().await;
    assert_eq!(world.server.openings(), 2, "one reopening for all");
    world.end().await;
}

// F67
#[test]
fn an_end_a_wish_to_reconnect_and_changed_lists_at_once_leave_one_connection() {
    explore(SCHEDULES, all_at_once);
}

async fn all_at_once() {
    let mut world = World::new(Manner::Steady);
    let first = world.first().await;
    let killer = world.kill(&first);
    let epoch = first.epoch;
    drop(first);
    let wishes = [
        killer,
        world.wish(|connection| async move { connection.reconnect().await }),
        world.change(),
        world.change(),
    ];
    let caller = world.call(epoch);
    for wish in wishes {
        wish.await.unwrap();
    }
    caller.await.unwrap().expect("the server is well");
    world.connected().await;
    assert!((2..=3).contains(&world.server.openings()), "opened {} times", world.server.openings());
    world.end().await;
}

// L1 L4 F67: whatever is wished at the same time, everybody is answered and the server can be used afterwards.
#[test]
fn every_caller_is_answered_whatever_else_is_wished() {
    explore(SCHEDULES, anything);
}

async fn anything() {
    let mut world = World::new(Manner::Moody);
    let epoch = world.connection.lease().await.map_or(Epoch::default(), |live| live.epoch);
    let killer = world.live().map(|live| world.kill(&live));
    let callers = [world.call(epoch), world.call(Epoch::default()), world.call(epoch)];
    let wishes = [
        world.wish(|connection| async move { connection.reconnect().await }),
        world.wish(|connection| async move {
            connection.switch(false).await;
            connection.switch(true).await;
        }),
        world.wish(move |connection| async move { connection.needs_auth(epoch).await }),
        world.wish(|connection| async move {
            let other = ServerConfig { timeout: Some(Duration::from_secs(1)), ..config() };
            connection.adjusted(other).wake();
        }),
        world.change(),
    ];
    for wish in wishes.into_iter().chain(killer) {
        wish.await.unwrap();
    }
    for caller in callers {
        // It has one or it knows why not.
        let _given: Result<Epoch, Unavailable> = caller.await.unwrap();
    }
    world.settled().await;
    while world.live().is_none() {
        world.connection.reconnect().await;
        // Moody as it is, it answers at last.
        let _refused: Result<_, Unavailable> = world.connection.lease().await;
        world.settled().await;
    }
    world.connected().await;
    world.end().await;
}

// L8 F69: one wants it ended in order, one at once, others still want to use it.
#[test]
fn after_a_stop_nothing_is_open_and_nothing_is_opened() {
    explore(SCHEDULES, stopping);
}

async fn stopping() {
    let mut world = World::new(Manner::Steady);
    let first = world.first().await;
    let callers = [world.call(Epoch::default()), world.call(first.epoch)];
    let wishes = [
        world.wish(|connection| async move { connection.stop(CALLS_GRACE).await }),
        world.wish(|connection| async move { connection.reconnect().await }),
        world.wish(|connection| async move { connection.switch(true).await }),
        world.wish(|connection| async move { connection.stop(Duration::ZERO).await }),
        world.kill(&first),
    ];
    for wish in wishes {
        wish.await.unwrap();
    }
    for caller in callers {
        match caller.await.unwrap() {
            Ok(_) | Err(Unavailable::Stopped) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert!(matches!(world.status(), Status::Stopped));
    world.closed().await;
    let openings = world.server.openings();
    world.connection.reconnect().await;
    world.connection.wake();
    assert!(matches!(world.connection.lease().await, Err(Unavailable::Stopped)));
    assert_eq!(world.server.openings(), openings, "opened after its end");
    drop(first);
    world.end().await;
}

// L8: a stop with grace lets a call end, however late, and waits no longer than that.
#[test]
fn a_stop_with_grace_waits_for_calls_and_not_for_ever() {
    explore(SCHEDULES, stopping_in_order);
}

async fn stopping_in_order() {
    let mut world = World::new(Manner::Steady);
    let first = world.first().await;
    let held = first.clone();
    let holder = world.wish(|_| async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(held);
    });
    let renewal = world.call(first.epoch);
    let stop = world.wish(|connection| async move { connection.stop(CALLS_GRACE).await });
    drop(first);
    stop.await.unwrap();
    world.closed().await;
    holder.await.unwrap();
    // Before the stop or after it.
    let _given: Result<Epoch, Unavailable> = renewal.await.unwrap();
    world.end().await;
}

// L9: nothing is left when the last handle is gone, whatever was under way.
#[test]
fn a_handle_that_is_given_back_takes_everything_with_it() {
    explore(SCHEDULES, giving_back);
}

async fn giving_back() {
    let world = World::new(Manner::Moody);
    let callers = [world.call(Epoch::default()), world.call(Epoch::default())];
    let reconnect = world.wish(|connection| async move { connection.reconnect().await });
    let killer = world.live().map(|live| world.kill(&live));
    callers.iter().for_each(JoinHandle::abort);
    reconnect.await.unwrap();
    drop(killer);
    world.give_back().await;
}

// L14: who has it keeps it, however late the others see that nobody uses it any more.
#[test]
fn a_server_is_put_to_rest_only_when_nobody_has_it() {
    explore(SCHEDULES, resting);
}

async fn resting() {
    let mut world = World::new(Manner::Steady);
    drop(world.first().await);
    // Only programs are put to rest, so from now on it counts as one; it is not reached again here.
    let program =
        Stdio { command: String::new(), args: Vec::new(), env: Vec::new(), cwd: None, inherit_env: false };
    let idle_timeout = Some(Duration::from_secs(2));
    world.connection.adjusted(ServerConfig {
        transport: Transport::Stdio(program),
        idle_timeout,
        ..config()
    });
    let users = [(); 3].map(|()| world.wish(use_twice));
    for user in users {
        user.await.unwrap();
    }
    until(|| matches!(world.status(), Status::Dormant)).await;
    world.closed().await;
    assert_eq!(world.server.openings(), 1);
    world.end().await;
}

async fn use_twice(connection: Connection) {
    for _ in 0..2 {
        let Some(live) = connection.ready(Epoch::default()) else { return };
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert!(!live.session.peer().is_over(), "it was put to rest under a call");
    }
}

// L6: a server that ends again and again is tried five times more, and then no more.
#[test]
fn a_server_that_always_ends_is_given_up_after_five_attempts() {
    explore(FEWER, crashing);
}

async fn crashing() {
    let mut world = World::new(Manner::Steady);
    world.connection.wake();
    while !matches!(world.status(), Status::Failed(_)) {
        if let Some(live) = world.live() {
            world.kill(&live).await.unwrap();
        }
        shuttle::future::yield_now().await;
    }
    world.closed().await;
    assert_eq!(world.server.openings(), 1 + RECONNECT_ATTEMPTS as usize);
    world.end().await;
}

// L6: so it is when somebody wants it at once each time; only who comes after it was given up is a new beginning. The
// order to fear: the connection has ended, and a caller's wish reaches the actor before the end does, every time.
#[test]
fn callers_do_not_keep_a_server_alive_that_always_ends() {
    explore(FEWER, crashing_under_calls);
}

async fn crashing_under_calls() {
    let mut world = World::new(Manner::Steady);
    world.connection.wake();
    while !matches!(world.status(), Status::Failed(_)) {
        if let Some(live) = world.live() {
            world.kill(&live).await.unwrap();
            live.session.peer().ended().await;
            if number().is_multiple_of(2) {
                live.served();
            }
            let caller = world.call(live.epoch);
            drop(live);
            // It was given the next one, or knows that it must wait, or that there is none.
            let _given: Result<Epoch, Unavailable> = caller.await.unwrap();
        }
        shuttle::future::yield_now().await;
    }
    world.closed().await;
    for life in world.path().split(|state| *state == "failed") {
        let lives = life.iter().filter(|state| **state == "connected").count();
        assert!(lives <= 1 + RECONNECT_ATTEMPTS as usize, "it was reached {lives} times");
    }
    world.end().await;
}

// F67: a schedule that failed can be repeated, because nothing else decides what happens.
#[test]
fn a_schedule_is_all_there_is_to_a_run() {
    let random = RandomScheduler::new_from_seed(SEED, 50);
    run(UncontrolledNondeterminismCheckScheduler::new(random), anything);
}
