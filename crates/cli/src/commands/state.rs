//! `state`: everything that is known, as one JSON document.

use mcparley::{Loaded, Start};

use super::{Done, code_of, usable};
use crate::context::Context;
use crate::live;
use crate::out::Out;

pub(super) fn run(context: &Context, loaded: Loaded, out: &mut Out) -> Done {
    let code = code_of(&loaded);
    let host = context.host_for_person(loaded).start_with(Start::All).skip_known_failures();
    live::with_host(host, async |host| {
        usable::settled(host, out).await;
        out.value(&host.state());
        Ok(code)
    })
}
