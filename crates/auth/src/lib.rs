//! Who we are to a server: OAuth, XAA, token stores and header helpers.
//!
//! The room is laid but empty: sign-in comes after connections. It will implement the `Authorizer` of
//! `wire` and know nothing of tools.
