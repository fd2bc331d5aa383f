//! One file an operation.

mod click;
mod dialogs;
mod double_click;
mod evaluate;
mod fill;
mod find;
mod get_text;
mod hover;
mod inspect;
mod key;
mod list_targets;
mod navigate;
mod observe;
mod preflight;
mod screenshot;
mod scroll;
mod wait;
