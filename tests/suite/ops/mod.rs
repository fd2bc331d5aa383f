//! One file an operation.

mod click;
mod dialogs;
mod evaluate;
mod fill;
mod find;
mod get_text;
mod key;
mod list_targets;
mod navigate;
mod observe;
mod screenshot;
mod wait;
