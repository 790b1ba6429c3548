//! The choice of the client authentication method.

use super::*;

type Row = (Option<&'static [ClientAuthMethod]>, HeldCredentials, Option<ClientAuthMethod>, ClientAuthMethod);

// A1 A8
#[test]
fn auth_method_follows_from_metadata_credentials_and_registration() {
    use ClientAuthMethod::{Basic, Nothing, Post, Signature};
    let nothing = HeldCredentials::default();
    let secret = HeldCredentials { secret: true, key: false };
    let key = HeldCredentials { secret: false, key: true };
    let both = HeldCredentials { secret: true, key: true };
    let table: [Row; 22] = [
        // A client without credentials uses no method that needs some.
        (None, nothing, None, Nothing),
        (Some(&[Nothing]), nothing, None, Nothing),
        (Some(&[Basic]), nothing, None, Nothing),
        (Some(&[Basic]), nothing, Some(Basic), Nothing),
        // The default of RFC 8414.
        (None, secret, None, Basic),
        (Some(&[Basic]), secret, None, Basic),
        (Some(&[Post]), secret, None, Post),
        (Some(&[Post, Basic]), secret, None, Post),
        (Some(&[Basic, Post]), secret, None, Post),
        (Some(&[Nothing]), secret, None, Nothing),
        (Some(&[Post, Nothing]), secret, None, Post),
        // Metadata that fits none of our credentials is ignored.
        (Some(&[]), secret, None, Post),
        (Some(&[Signature]), secret, None, Post),
        (Some(&[Basic]), key, None, Signature),
        (None, key, None, Signature),
        (Some(&[Signature, Nothing]), key, None, Signature),
        (Some(&[Basic, Signature]), both, None, Signature),
        (Some(&[Post]), both, None, Post),
        // The registered method takes precedence.
        (Some(&[Basic, Nothing]), secret, Some(Nothing), Nothing),
        (Some(&[Basic]), secret, Some(Post), Post),
        (None, secret, Some(Post), Post),
        (Some(&[Post]), secret, Some(Signature), Post),
    ];
    for (offered, held, agreed, wanted) in table {
        assert_eq!(choose_auth_method(offered, held, agreed), wanted, "{offered:?} {held:?} {agreed:?}");
    }
}
