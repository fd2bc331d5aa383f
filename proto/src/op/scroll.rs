//! `scroll`: turn the wheel, or bring an element into view (contract 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Needs, Operation, Place, seconds};
use crate::result::Acted;

/// Scroll by the wheel, or bring an element into view
///
/// Without more, the wheel turns over what lies in the middle of the page. The answer says which pane moved, from
/// where to where, and how much is left; that nothing moved is said too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Scroll {
    /// Bring this element into view instead of turning the wheel
    #[arg(conflicts_with_all = ["dx", "dy", "to", "at"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub target: Option<Locator>,
    /// CSS pixels to the right, -20000 to 20000
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -20_000, max = 20_000))]
    pub dx: Option<i32>,
    /// CSS pixels down, -20000 to 20000; 600 when neither dx nor to is given
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -20_000, max = 20_000))]
    pub dy: Option<i32>,
    /// To this end of the pane, 20000 pixels at most
    #[arg(long, value_enum, value_name = "END", conflicts_with_all = ["dx", "dy"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<ScrollEnd>,
    /// Where the wheel turns: an element (a locator) or a point of the viewport (X,Y)
    #[arg(long, value_name = "PLACE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub at: Option<Place>,
}

/// An end of a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ScrollEnd {
    /// Its upper end
    Top,
    /// Its lower end
    Bottom,
    /// Its left end
    Left,
    /// Its right end
    Right,
}

impl Scroll {
    /// Farthest that one call scrolls, in CSS pixels.
    pub const FARTHEST: i32 = 20_000;

    /// How far the wheel turns when no end is named: right and down.
    pub fn delta(&self) -> (i32, i32) {
        (self.dx.unwrap_or(0), self.dy.unwrap_or(if self.dx.is_some() { 0 } else { 600 }))
    }
}

impl Operation for Scroll {
    const FACTS: Facts = Facts {
        name: "scroll",
        capability: Capability::Input,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(5),
        guarded: true,
        targeted: true,
        framed: true,
    };
    type Output = Acted;

    fn locators(&self) -> Vec<&Locator> {
        let at = match &self.at {
            Some(Place::Element(locator)) => Some(locator),
            Some(Place::Point(_)) | None => None,
        };
        self.target.iter().chain(at).collect()
    }

    fn also_needs(&self) -> Vec<Capability> {
        let at_point = matches!(self.at, Some(Place::Point(_)));
        if at_point { vec![Capability::CoordinateInput] } else { Vec::new() }
    }

    fn check(&self) -> Result<(), super::InvalidParams> {
        let invalid = |text: &str| Err(super::InvalidParams(text.to_owned()));
        let wheel = self.dx.is_some() || self.dy.is_some() || self.to.is_some() || self.at.is_some();
        if self.target.is_some() && wheel {
            return invalid("target brings an element into view and takes no dx, dy, to or at");
        }
        if self.to.is_some() && (self.dx.is_some() || self.dy.is_some()) {
            return invalid("to names an end and takes no dx or dy");
        }
        for (name, value) in [("dx", self.dx), ("dy", self.dy)] {
            if value.is_some_and(|value| value.unsigned_abs() > Self::FARTHEST.unsigned_abs()) {
                return invalid(&format!("{name} is -{0} to {0}", Self::FARTHEST));
            }
        }
        if self.to.is_none() && self.target.is_none() && self.delta() == (0, 0) {
            return invalid("dx and dy are both 0: there is nothing to scroll");
        }
        if let Some(Place::Point(point)) = &self.at {
            point.check().map_err(|error| super::InvalidParams(error.to_string()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Result<Scroll, String> {
        let scroll: Scroll = serde_json::from_str(json).map_err(|error| error.to_string())?;
        scroll.check().map_err(|error| error.to_string())?;
        Ok(scroll)
    }

    #[test]
    fn the_wheel_turns_600_down_unless_told_otherwise() {
        assert_eq!(of("{}").unwrap().delta(), (0, 600));
        assert_eq!(of(r#"{"dx":40}"#).unwrap().delta(), (40, 0));
        assert_eq!(of(r#"{"dy":-20000}"#).unwrap().delta(), (0, -20_000));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        for wrong in [
            r#"{"dy":20001}"#,
            r#"{"dy":-2147483648}"#,
            r#"{"dx":0,"dy":0}"#,
            r#"{"target":"e1","dy":5}"#,
            r#"{"target":"e1","at":"1,2"}"#,
            r#"{"to":"top","dy":5}"#,
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
