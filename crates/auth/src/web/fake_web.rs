//! A fake web for tests that explore schedules, where there are no sockets.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use mcparley_wire::peer::BoxedFuture;

use super::{Web, WebBody, WebResponse};

/// The parameters of a form.
pub(crate) type Form = HashMap<String, String>;

type Answer = dyn Fn(Form) -> BoxedFuture<'static, WebResponse> + Send + Sync;

#[derive(Clone)]
pub(crate) struct FakeWeb(Arc<Answer>);

impl FakeWeb {
    pub(super) async fn answer_form(&self, body: WebBody<'_>) -> WebResponse {
        let form = match body {
            WebBody::Form(pairs) => {
                pairs.iter().map(|(name, value)| ((*name).to_owned(), value.expose().clone()))
            }
            WebBody::Json(_) => {
                return WebResponse { status: 404, headers: Vec::new(), body: bytes::Bytes::new() };
            }
        };
        (self.0)(form.collect()).await
    }
}

impl Web {
    /// Replaces the network by a function that answers all posted forms.
    pub(crate) fn with_fake_answers(
        mut self,
        answer: impl Fn(Form) -> BoxedFuture<'static, WebResponse> + Send + Sync + 'static,
    ) -> Self {
        self.fake = Some(FakeWeb(Arc::new(answer)));
        self
    }
}

impl fmt::Debug for FakeWeb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StandIn")
    }
}
