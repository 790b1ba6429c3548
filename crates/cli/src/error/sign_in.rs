//! Which exit code a sign-in that did not succeed ends with.

use mcparley::{Cause, SignInError};

use crate::exit::{self, Code};

pub(super) fn code(error: &SignInError) -> Code {
    match error.cause() {
        Cause::Person => exit::NEEDS_AUTH,
        Cause::Configuration => exit::CONFIG,
        Cause::Machine => exit::FILE,
        Cause::Server => exit::UNREACHABLE,
        Cause::Late => exit::TIMED_OUT,
        Cause::Caller => exit::USAGE,
    }
}
