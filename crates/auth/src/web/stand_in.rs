//! Somebody who answers in the place of the whole web, where schedules are explored and there are no sockets.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use mcparley_wire::peer::Boxed;

use super::{Body, Page, Web};

/// What a form has in it.
pub(crate) type Form = HashMap<String, String>;

type Answer = dyn Fn(Form) -> Boxed<'static, Page> + Send + Sync;

#[derive(Clone)]
pub(crate) struct StandIn(Arc<Answer>);

impl StandIn {
    pub(super) async fn answer(&self, body: Body<'_>) -> Page {
        let form = match body {
            Body::Form(pairs) => {
                pairs.iter().map(|(name, value)| ((*name).to_owned(), value.expose().clone()))
            }
            Body::Json(_) => return Page { status: 404, headers: Vec::new(), body: bytes::Bytes::new() },
        };
        (self.0)(form.collect()).await
    }
}

impl Web {
    /// The same web, with somebody who answers whatever is posted.
    pub(crate) fn answered_by(
        mut self,
        answer: impl Fn(Form) -> Boxed<'static, Page> + Send + Sync + 'static,
    ) -> Self {
        self.stand_in = Some(StandIn(Arc::new(answer)));
        self
    }
}

impl fmt::Debug for StandIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StandIn")
    }
}
