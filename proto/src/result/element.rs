//! Results about one element: `preflight` and `inspect`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::acted::{PageLine, Target};
use crate::error::Candidate;

/// Whether an action would find its element ready (contract 4.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Preflighted {
    /// The page.
    pub page: PageLine,
    /// The action that was asked about.
    pub action: String,
    /// Exactly one visible element fits.
    pub unique: bool,
    /// It could be acted on as it is now.
    pub actionable: bool,
    /// Why not: `target_not_found`, `ambiguous_target`, `frame_unavailable` where it may be in a frame that did not answer,
    /// or a reason of an action that could not be done, such as
    /// `disabled`, `hit_test_blocked` or `outside_viewport`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// It is out of view: an action would scroll first, and what would lie over it then is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_scroll: bool,
    /// Visible elements that fit.
    pub total: u64,
    /// Hidden ones.
    pub hidden: u64,
    /// The element, when it is the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// Its left, top, width and height in CSS pixels of its frame's viewport.
    #[serde(rename = "box", default, skip_serializing_if = "Option::is_none")]
    pub rect: Option<[f64; 4]>,
    /// What lies over it, or what else fits; at most 8.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
}

/// One element (contract 3.8). Everything that comes from the page is page data; at most 10,000 characters in all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Inspected {
    /// The page.
    pub page: PageLine,
    /// Its ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its frame, when not the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// What is known of it.
    #[serde(flatten)]
    pub element: Element,
    /// Attributes, relations and options that were left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// What a page engine says of an element.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Element {
    /// Computed role.
    pub role: String,
    /// Computed accessible name, at most 256 characters.
    pub name: String,
    /// Characters of the whole name, when it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_length: Option<u64>,
    /// Characters that its name has and comparisons pass over: zero-width characters and direction marks (contract 4.2).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<Removed>,
    /// Its name is written in another normal form than the one that names are compared in.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recomposed: bool,
    /// Local name of its tag; `svg:` stands before those of SVG.
    pub tag: String,
    /// Heading or tree level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// Left, top, width and height in CSS pixels of its frame's viewport.
    #[serde(rename = "box")]
    pub rect: [f64; 4],
    /// Some of it lies in its frame's viewport.
    pub in_viewport: bool,
    /// A person can see it, or the label that stands for it.
    pub visible: bool,
    /// Why not: `not_visible`, `inert`, `aria_hidden`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Not disabled, by itself or by what it lies in.
    pub enabled: bool,
    /// Text can be put into it.
    pub editable: bool,
    /// It has the focus of its document.
    pub focused: bool,
    /// States such as checked, expanded, required.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// Its value, at most 2048 characters; never of a password or one-time code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Characters of the whole value, when it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_length: Option<u64>,
    /// Its value is never shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub protected: bool,
    /// What the browser says is wrong with its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<String>,
    /// Its attributes in their order.
    pub attributes: Vec<Attribute>,
    /// What it owns, controls, opens or is labelled by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<Relation>,
    /// Options of a select or list box.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// How many options there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options_total: Option<u64>,
}

/// A character that comparisons pass over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Removed {
    /// Its code point, as `U+200B`.
    pub character: String,
    /// How often.
    pub count: u64,
}

/// One attribute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Its value, at most 256 characters. Absent where it is script, or the value of a password or one-time code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Characters of the whole value, when it was cut or is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
}

/// Another element that this one names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Relation {
    /// How: the attribute, `label`, or `content` for what a `details` holds.
    pub by: String,
    /// The other's ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its role.
    pub role: String,
    /// Its name or text, at most 160 bytes.
    pub label: String,
    /// Whether a person can see it.
    pub visible: bool,
}

/// An option of a control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// Its text, at most 160 bytes.
    pub label: String,
    /// Its value, where that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// It is chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub selected: bool,
    /// It cannot be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
}
