//! Places on a page: points in CSS pixels, and the choice between an element and a point.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::locator::{InvalidLocator, Locator};

/// A point in CSS pixels. On the command line it is written `X,Y`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// To the right
    pub x: f64,
    /// Down
    pub y: f64,
}

/// A text that is no point.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a point is X,Y in CSS pixels, such as 120,48")]
pub struct InvalidPoint;

/// Farthest that a coordinate may be from 0.
const FARTHEST: f64 = 1e6;

impl Point {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// When a coordinate is no number or beyond any page.
    pub fn check(&self) -> Result<(), InvalidPoint> {
        let fits = |value: f64| value.is_finite() && value.abs() <= FARTHEST;
        if fits(self.x) && fits(self.y) { Ok(()) } else { Err(InvalidPoint) }
    }
}

impl FromStr for Point {
    type Err = InvalidPoint;
    fn from_str(text: &str) -> Result<Self, InvalidPoint> {
        let (x, y) = text.split_once(',').ok_or(InvalidPoint)?;
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| InvalidPoint);
        let point = Self { x: number(x)?, y: number(y)? };
        point.check()?;
        Ok(point)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.x, self.y)
    }
}

/// An element, or a point of the viewport. Written as a locator or as `X,Y`; a thing that is named like a point is
/// reached by `name=`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Place {
    /// The element that a locator means.
    Element(Locator),
    /// A point of the page's viewport.
    Point(Point),
}

impl FromStr for Place {
    type Err = InvalidLocator;
    fn from_str(text: &str) -> Result<Self, InvalidLocator> {
        match text.parse::<Point>() {
            Ok(point) => Ok(Self::Point(point)),
            Err(InvalidPoint) => text.parse().map(Self::Element),
        }
    }
}

impl TryFrom<String> for Place {
    type Error = InvalidLocator;
    fn try_from(text: String) -> Result<Self, InvalidLocator> {
        text.parse()
    }
}

impl From<Place> for String {
    fn from(place: Place) -> Self {
        match place {
            Place::Element(locator) => locator.into(),
            Place::Point(point) => point.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_two_numbers_and_nothing_else() {
        assert_eq!("120, 4.5".parse(), Ok(Point { x: 120.0, y: 4.5 }));
        assert_eq!("-3,0".parse(), Ok(Point { x: -3.0, y: 0.0 }));
        for wrong in ["", "1", "1,", ",1", "1,2,3", "a,b", "NaN,1", "inf,1", "1e9,0"] {
            assert_eq!(wrong.parse::<Point>(), Err(InvalidPoint), "{wrong}");
        }
    }

    #[test]
    fn a_place_is_a_point_where_it_reads_like_one() {
        assert_eq!("10,20".parse(), Ok(Place::Point(Point { x: 10.0, y: 20.0 })));
        assert!(matches!("name=\"10,20\"".parse(), Ok(Place::Element(_))));
        let place: Place = "role=list".parse().unwrap();
        assert_eq!(Place::try_from(String::from(place.clone())), Ok(place));
    }
}
