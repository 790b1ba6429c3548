//! Receives visitors, each for a short time and not too many at once.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::{CALLBACK_CONNECTIONS, CALLBACK_TIME};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::desk::Desk;
use super::doors::Doors;
use super::reply::Reply;
use super::request::{Request, Unread};

/// How long nobody is let in after the system could not let somebody in, for instance for want of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Receives visitors until it is dropped, and they with it.
pub(super) async fn serve(doors: Doors, desk: Arc<Desk>) {
    let mut visits = JoinSet::new();
    loop {
        tokio::select! {
            // How a visit ended is of no interest.
            Some(_) = visits.join_next() => {}
            visitor = doors.accept(), if visits.len() < CALLBACK_CONNECTIONS => match visitor {
                Ok(stream) => {
                    visits.spawn(timeout(CALLBACK_TIME, visit(stream, Arc::clone(&desk))));
                }
                Err(_) => sleep(PAUSE).await,
            }
        }
    }
}

async fn visit(mut stream: TcpStream, desk: Arc<Desk>) {
    let (reply, delivery) = match Request::read(&mut stream).await {
        Ok(request) => desk.receive(&request),
        Err(Unread::Unfit) => (Reply::Wrong, None),
        Err(Unread::Gone) => return,
    };
    // A visitor that does not want to know what becomes of its visit need not.
    let _gone = stream.write_all(&reply.to_bytes()).await;
    let _gone = stream.shutdown().await;
    drop(delivery);
    // Closed with something unread, the connection would be reset and the reply lost on its way.
    let mut rest = [0; 4096];
    while matches!(stream.read(&mut rest).await, Ok(1..)) {}
}
