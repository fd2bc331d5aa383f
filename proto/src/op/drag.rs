//! `drag`: drag and drop (contract 5.3).

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capability, Effect, Facts, Lane, Locator, Modifier, Needs, Operation, Place, seconds};
use crate::result::Acted;

/// Drag one element onto another
///
/// By trusted pointer input, and by the browser's own drag and drop where the page asks for that. The destination is looked up once the drag has begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Drag {
    /// What is dragged: an element (a locator) or a point of the viewport (X,Y)
    #[schemars(with = "String")]
    pub source: Place,
    /// Where it is dropped: an element or a point
    #[schemars(with = "String")]
    pub destination: Place,
    /// Moves on the way, 2 to 100; 10 when not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 100))]
    pub steps: Option<u32>,
    /// Milliseconds between press and first move, 0 to 5000, for what must be held before it can be dragged
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(0..=5000))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 5000))]
    pub hold_ms: Option<u32>,
    /// Keys held down meanwhile
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KEYS")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<Modifier>,
}

impl Operation for Drag {
    const FACTS: Facts = Facts {
        name: "drag",
        capability: Capability::Input,
        effect: Effect::Mutation,
        lane: Lane::Page,
        needs: Needs::OpenPage,
        timeout: seconds(10),
        guarded: true,
        targeted: true,
        framed: true,
    };
    const NAVIGATES: bool = true;
    const POINTS: bool = true;
    type Output = Acted;

    fn locators(&self) -> Vec<&Locator> {
        let places = [&self.source, &self.destination].into_iter();
        let elements = places.filter_map(|place| match place {
            Place::Element(locator) => Some(locator),
            Place::Point(_) => None,
        });
        elements.collect()
    }

    fn also_needs(&self) -> Vec<Capability> {
        let at_point = [&self.source, &self.destination].iter().any(|place| matches!(place, Place::Point(_)));
        if at_point { vec![Capability::CoordinateInput] } else { Vec::new() }
    }

    fn check(&self) -> Result<(), super::InvalidParams> {
        super::in_range("steps", self.steps.unwrap_or(10), 2..=100)?;
        super::in_range("holdMs", self.hold_ms.unwrap_or(0), 0..=5000)?;
        for place in [&self.source, &self.destination] {
            if let Place::Point(point) = place {
                super::position(Some(*point))?;
            }
        }
        Ok(())
    }
}
