//! Receives visitors: reads what each asks for, and replies.
//!
//! Anybody on the machine can connect here and say nothing. So visitors are never waited for one by one, and when there
//! are too many the oldest is sent away and never the newest: a browser speaks as soon as it is connected, and whoever
//! holds connections open only loses them. The one visitor that brought the answer is not among those sent away.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::{CALLBACK_CONNECTIONS, CALLBACK_TIME};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::{AbortHandle, JoinSet, yield_now};
use tokio::time::{sleep, timeout};

use super::desk::{Desk, Received, Visitor};
use super::doors::Doors;
use super::reply::Reply;
use super::request::{Request, Unread};

/// How long nobody is let in after the system could not let somebody in, for instance for want of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Receives visitors until it is dropped, and they with it.
pub(super) async fn serve(doors: Doors, desk: Arc<Desk>) {
    let (mut reading, mut replying) = (Newest::default(), Newest::default());
    let mut waiting = JoinSet::new();
    loop {
        tokio::select! {
            // Who has spoken goes before who has only come.
            biased;
            Some(read) = reading.next() => if let Some((stream, request)) = read {
                match receive(&desk, request) {
                    Received::Refused(reply) => replying.start(send(stream, reply, None)),
                    Received::Answered(visitor) => {
                        waiting.spawn(async move {
                            let reply = visitor.verdict().await;
                            send(stream, reply, Some(visitor)).await;
                        });
                    }
                }
            },
            Some(_) = replying.next() => {}
            Some(_) = waiting.join_next() => {}
            visitor = doors.accept() => match visitor {
                Ok(stream) => {
                    reading.start(read(stream));
                    // Those that are connected already get to speak before the next is let in.
                    yield_now().await;
                }
                Err(_) => sleep(PAUSE).await,
            }
        }
    }
}

fn receive(desk: &Arc<Desk>, request: Result<Request, Unread>) -> Received {
    match request {
        Ok(request) => desk.receive(&request),
        Err(Unread::Unfit | Unread::Gone) => Received::Refused(Reply::Wrong),
    }
}

/// What a visitor asks for; nothing of one that is gone or takes too long.
async fn read(mut stream: TcpStream) -> Option<(TcpStream, Result<Request, Unread>)> {
    match timeout(CALLBACK_TIME, Request::read(&mut stream)).await {
        Ok(Err(Unread::Gone)) | Err(_) => None,
        Ok(request) => Some((stream, request)),
    }
}

/// Replies; `visitor` has been told when the reply is sent. One that does not want to know need not.
async fn send(mut stream: TcpStream, reply: Reply, visitor: Option<Visitor>) {
    let sent = async {
        stream.write_all(&reply.to_bytes()).await?;
        stream.shutdown().await?;
        drop(visitor);
        // Closed with something unread, the connection would be reset and the reply lost on its way.
        let mut rest = [0; 4096];
        while stream.read(&mut rest).await? > 0 {}
        Ok::<_, std::io::Error>(())
    };
    let _gone = timeout(CALLBACK_TIME, sent).await;
}

/// Tasks of which only the newest run: one too many ends the oldest.
struct Newest<T> {
    tasks: JoinSet<T>,
    order: VecDeque<AbortHandle>,
}

impl<T> Default for Newest<T> {
    fn default() -> Self {
        Self { tasks: JoinSet::new(), order: VecDeque::new() }
    }
}

impl<T: Send + 'static> Newest<T> {
    fn start(&mut self, task: impl Future<Output = T> + Send + 'static) {
        self.order.retain(|task| !task.is_finished());
        if self.order.len() >= CALLBACK_CONNECTIONS
            && let Some(oldest) = self.order.pop_front()
        {
            oldest.abort();
        }
        self.order.push_back(self.tasks.spawn(task));
    }

    /// The result of the next that ends by itself; nothing while there are none.
    async fn next(&mut self) -> Option<T> {
        loop {
            // One that was ended, as one too many, has no result.
            if let Ok(done) = self.tasks.join_next().await? {
                return Some(done);
            }
        }
    }
}
