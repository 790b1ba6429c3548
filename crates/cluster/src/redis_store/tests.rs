//! The store against a scripted Redis server.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::*;

/// Far longer than any test takes.
const LONG: Duration = Duration::from_secs(30);

/// A server that answers each command in one way, and can be told to refuse writes.
struct ScriptedRedis {
    address: String,
    state: Arc<RedisState>,
    _serving: JoinHandle<()>,
}

#[derive(Default)]
struct RedisState {
    is_replica: AtomicBool,
    /// Counts the ends of all connections that were asked for.
    closed: watch::Sender<u64>,
}

impl ScriptedRedis {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("redis://{}", listener.local_addr().unwrap());
        let state = Arc::<RedisState>::default();
        let shared = Arc::clone(&state);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                let mut closed = state.closed.subscribe();
                tokio::spawn(async move {
                    tokio::select! {
                        () = serve_commands(stream, &state) => {}
                        _ = closed.changed() => {}
                    }
                });
            }
        });
        Self { address, state, _serving: serving }
    }

    /// Closes all connections.
    fn close_connections(&self) {
        self.state.closed.send_modify(|count| *count += 1);
    }

    fn connect(&self) -> RedisStore {
        RedisStore::connect(&StoreAddress::parse(&self.address).unwrap()).unwrap()
    }
}

async fn serve_commands(stream: TcpStream, state: &RedisState) {
    let mut stream = BufReader::new(stream);
    while let Some(words) = read_command(&mut stream).await {
        let answer = match words[0].to_ascii_uppercase().as_str() {
            "SET" | "XADD" | "DEL" if state.is_replica.load(Ordering::SeqCst) => {
                "-READONLY You can't write against a read only replica.\r\n"
            }
            "SET" if words.last().unwrap() == "XX" => "$-1\r\n",
            "SET" if words[1] == "full" => "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
            "GET" => "$5\r\nvalue\r\n",
            "PING" => "+PONG\r\n",
            _ => "+OK\r\n",
        };
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Reads an array of strings; `None` at the end of the connection.
async fn read_command(stream: &mut BufReader<TcpStream>) -> Option<Vec<String>> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
    let count: usize = line.trim().strip_prefix('*')?.parse().ok()?;
    let mut words = Vec::new();
    for _ in 0..count {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
        let mut word = vec![0; line.trim().strip_prefix('$')?.parse::<usize>().ok()? + 2];
        stream.read_exact(&mut word).await.ok()?;
        words.push(String::from_utf8(word).ok()?.trim_end().to_owned());
    }
    Some(words)
}

async fn wait_for(store: &RedisStore, is_available: bool) {
    let mut availability = store.availability();
    let reached = availability.wait_for(|it| *it == is_available);
    tokio::time::timeout(LONG, reached).await.expect("in time").unwrap();
}

fn put(key: &str) -> StoreChange {
    StoreChange::Put { key: key.to_owned(), value: b"1".to_vec(), ttl: None }
}

// G9
#[tokio::test]
async fn late_failure_of_an_old_connection_does_not_end_the_new_one() {
    let server = ScriptedRedis::start().await;
    let store = server.connect();
    wait_for(&store, true).await;
    let generation = |store: &RedisStore| store.link.connection.borrow().as_ref().map(|it| it.generation);
    let old = generation(&store).unwrap();
    let mut availability = store.availability();
    availability.borrow_and_update();
    server.close_connections();
    // A lost connection is noticed by the next command.
    while !availability.has_changed().unwrap() {
        assert!(matches!(store.fetch_value("key".to_owned()).await, Err(SharedStoreError::Unavailable)));
    }
    wait_for(&store, true).await;
    let new = generation(&store).unwrap();
    assert!(new > old);
    store.link.lose_connection(old);
    assert_eq!((generation(&store), *store.availability().borrow()), (Some(new), true));
    assert_eq!(store.fetch_value("key".to_owned()).await.unwrap(), Some(b"value".to_vec()));
    store.link.lose_connection(new);
    assert!(!*store.availability().borrow());
}

// G9
#[tokio::test]
async fn replica_without_writes_counts_as_a_lost_connection_until_it_takes_writes() {
    let server = ScriptedRedis::start().await;
    let store = server.connect();
    wait_for(&store, true).await;
    server.state.is_replica.store(true, Ordering::SeqCst);
    let written = store.apply_changes(vec![put("key")]).await;
    assert!(matches!(written, Err(SharedStoreError::Unavailable)), "{written:?}");
    assert!(!*store.availability().borrow(), "a new connection to a replica is not taken");
    server.state.is_replica.store(false, Ordering::SeqCst);
    wait_for(&store, true).await;
    store.apply_changes(vec![put("key")]).await.unwrap();
}

// G9
#[tokio::test]
async fn refused_change_of_several_is_counted_and_the_connection_stays() {
    let server = ScriptedRedis::start().await;
    let store = server.connect();
    wait_for(&store, true).await;
    match store.apply_changes(vec![put("key"), put("full"), put("other")]).await {
        Err(SharedStoreError::Refused { reason, changes }) => {
            assert_eq!(changes, 1);
            assert!(reason.contains("maxmemory"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    assert!(*store.availability().borrow());
}
