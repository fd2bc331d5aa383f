//! Tests that run as two users: the one of the test process, and an ordinary one made for the test.

/// Makes of each function that takes a `Who` a module of its name with a test for each user.
macro_rules! twice {
    ($($(#[$attribute:meta])* fn $name:ident($who:ident: Who) $body:block)*) => { $(
        $(#[$attribute])*
        mod $name {
            use super::*;

            fn promise($who: Who) $body

            #[test]
            fn as_the_current_user() {
                promise(Who::Current);
            }

            #[test]
            fn as_an_ordinary_user() {
                if Who::Ordinary.possible() {
                    promise(Who::Ordinary);
                }
            }
        }
    )* };
}
