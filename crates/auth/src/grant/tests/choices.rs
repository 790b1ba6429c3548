//! How a client proves who it is.

use super::*;

type Row = (Option<&'static [Proof]>, Held, Option<Proof>, Proof);

// A1 A8
#[test]
fn the_proof_follows_from_what_the_server_takes_what_we_hold_and_what_was_agreed() {
    use Proof::{Basic, Nothing, Post, Signature};
    let nothing = Held::default();
    let secret = Held { secret: true, key: false };
    let key = Held { secret: false, key: true };
    let both = Held { secret: true, key: true };
    let table: [Row; 22] = [
        // Who holds nothing shows nothing, whatever is wanted.
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
        // A description that fits nothing we have is not believed.
        (Some(&[]), secret, None, Post),
        (Some(&[Signature]), secret, None, Post),
        (Some(&[Basic]), key, None, Signature),
        (None, key, None, Signature),
        (Some(&[Signature, Nothing]), key, None, Signature),
        (Some(&[Basic, Signature]), both, None, Signature),
        (Some(&[Post]), both, None, Post),
        // What the registration agreed on goes first.
        (Some(&[Basic, Nothing]), secret, Some(Nothing), Nothing),
        (Some(&[Basic]), secret, Some(Post), Post),
        (None, secret, Some(Post), Post),
        (Some(&[Post]), secret, Some(Signature), Post),
    ];
    for (offered, held, agreed, wanted) in table {
        assert_eq!(choose(offered, held, agreed), wanted, "{offered:?} {held:?} {agreed:?}");
    }
}
