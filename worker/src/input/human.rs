//! How a hand moves a mouse: along a curve, slower at its ends, and then it rests. Pure; what is drawn by lot comes in.

use std::time::Duration;

/// Pixels between two points in the middle of a way.
const STRIDE: f64 = 12.0;
/// Fewest and most points of a way.
const POINTS: (f64, f64) = (10.0, 48.0);
/// Between two of them.
const PAUSE: Duration = Duration::from_millis(8);
/// Shortest rest at the end, and what is added to it by lot.
const REST: (u64, u64) = (50, 90);
/// How far a way bends, as a part of its length.
const BEND: f64 = 0.18;
/// Where the pointer comes from when nobody knows, from where it goes to.
const ELSEWHERE: (f64, f64) = (-160.0, -90.0);

/// A way of the pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// Its points; the last is where it goes to.
    pub points: Vec<(f64, f64)>,
    /// Between two of them.
    pub pause: Duration,
    /// The rest at its end.
    pub rest: Duration,
}

/// The way of the pointer to a point, from where it is.
pub fn way(from: Option<(f64, f64)>, to: (f64, f64), lot: u64) -> Way {
    let mut lot = Lot(lot);
    let rest = Duration::from_millis(REST.0 + lot.below(REST.1));
    let from = from.unwrap_or(((to.0 + ELSEWHERE.0).max(1.0), (to.1 + ELSEWHERE.1).max(1.0)));
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length < 2.0 {
        return Way { points: Vec::new(), pause: PAUSE, rest };
    }
    let count = (length / STRIDE).clamp(POINTS.0, POINTS.1).round();
    let bends = [lot.part() * BEND, lot.part() * BEND];
    // Control points beside the straight way, at a third and at two thirds of it.
    let beside = |part: f64, bend: f64| (from.0 + dx * part - dy * bend, from.1 + dy * part + dx * bend);
    let (one, two) = (beside(1.0 / 3.0, bends[0]), beside(2.0 / 3.0, bends[1]));
    let mut points = Vec::new();
    let mut at = 1.0;
    while at < count {
        let part = ease(at / count);
        let left = 1.0 - part;
        let weights = [left.powi(3), 3.0 * left.powi(2) * part, 3.0 * left * part.powi(2), part.powi(3)];
        let along = |axis: fn((f64, f64)) -> f64| {
            let sum = weights[0] * axis(from)
                + weights[1] * axis(one)
                + weights[2] * axis(two)
                + weights[3] * axis(to);
            sum.max(0.0)
        };
        points.push((along(|point| point.0), along(|point| point.1)));
        at += 1.0;
    }
    points.push(to);
    Way { points, pause: PAUSE, rest }
}

/// Slow at both ends.
pub fn ease(part: f64) -> f64 {
    part * part * (3.0 - 2.0 * part)
}

/// Numbers that look like chance (splitmix64).
struct Lot(u64);

impl Lot {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// From -1 to 1.
    fn part(&mut self) -> f64 {
        f64::from(u32::try_from(self.below(2001)).unwrap_or(0)) / 1000.0 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_ends_where_it_goes_bends_and_takes_less_than_a_second() {
        for lot in 0..200 {
            let way = way(Some((10.0, 500.0)), (900.0, 40.0), lot);
            assert_eq!(way.points.last(), Some(&(900.0, 40.0)));
            assert!(way.points.iter().all(|(x, y)| *x >= 0.0 && *y >= 0.0));
            let time = way.pause * u32::try_from(way.points.len()).unwrap() + way.rest;
            assert!(time < Duration::from_secs(1), "{time:?}");
        }
        let bent = way(Some((0.0, 0.0)), (500.0, 0.0), 3);
        assert!(bent.points.iter().any(|(_, y)| *y > 0.5), "{bent:?}");
        assert_ne!(bent, way(Some((0.0, 0.0)), (500.0, 0.0), 4));
    }

    #[test]
    fn a_pointer_that_is_there_only_rests() {
        assert!(way(Some((5.0, 5.0)), (5.5, 5.0), 1).points.is_empty());
        assert!(
            way(None, (5.0, 5.0), 1).points.len() >= 10
                || way(None, (5.0, 5.0), 1).points.last() == Some(&(5.0, 5.0))
        );
    }
}
