//! Acting on elements: finding the one that is meant, waiting until it can be acted on, and measuring what came of it.

mod arrival;
mod evidence;
mod fact;
mod find;
mod frame;
mod locator;
mod ready;
mod view;

pub use arrival::{is_broken_off, is_held, loaded_until};
pub use evidence::{Before, Info, expected_navigation, line, measure, page_line, page_seen};
pub use fact::{Fact, Question, Since, Truth, Wake, Weighed, check_script, failed, several, until, verify};
pub use find::{
    Found, Looked, Matches, candidates, find, find_among, find_attached, find_scope, frames_in, locate_all,
    look, stale_error,
};
pub use frame::{confine, frame_gone, frame_of};
pub use ready::{
    Aim, Checked, Need, Report, Sight, candidate, disarm_all, glance, guard_revision, ready, unwatch_all,
    watch_all,
};
pub use view::{from_picture, scrolls, view};
