//! The order of what a forwarded request sends back.

use std::sync::Mutex;

use bytes::Bytes;

use super::*;

// G9: the poll that ends a request may be the one that adds its last messages.
#[tokio::test]
async fn last_message_of_a_forwarded_request_is_sent_before_its_answer() {
    let stream = DoorStream::new(StreamKind::Bound, None);
    let sent = Mutex::new(Vec::new());
    let answer = async {
        for number in 1..=2 {
            tokio::task::yield_now().await;
            stream.push_notification(Bytes::from(format!(r#"{{"n":{number}}}"#)));
        }
        Ok(RawJson::from_text("{}"))
    };
    let reply = |reply: OwnerReply| {
        sent.lock().unwrap().push(match reply {
            OwnerReply::Message(message) => message.get().to_owned(),
            OwnerReply::Answer(_) => "answer".to_owned(),
            other => panic!("{other:?}"),
        });
    };
    relay_answer(&stream, answer, reply).await;
    assert_eq!(*sent.lock().unwrap(), [r#"{"n":1}"#, r#"{"n":2}"#, "answer"]);
}
