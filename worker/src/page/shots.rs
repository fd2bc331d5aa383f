//! Pictures that were taken: what their pixels mean, and until when (contract 3.8).

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use glass_proto::op::Screenshot;

use super::state::{FrameKey, State};

/// Pictures remembered.
const REMEMBERED: usize = 32;

/// What the main document looks like, as far as coordinates depend on it.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The document.
    pub key: FrameKey,
    /// How far it is scrolled, in CSS pixels.
    pub scroll: [f64; 2],
    /// The viewport in CSS pixels.
    pub viewport: [f64; 2],
    /// Device pixels per CSS pixel, page zoom included.
    pub dpr: f64,
    /// Pinch zoom.
    pub zoom: f64,
    /// How often something scrolled in each document, by its number in refs.
    pub scrolls: BTreeMap<u32, u64>,
}

impl View {
    /// Why coordinates of this view do not hold in a later one.
    pub fn outlived(&self, now: &Self) -> Option<(&'static str, &'static str)> {
        if now.key != self.key {
            return Some(("navigated", "the page that it shows is not shown any more"));
        }
        let measures = |view: &Self| (view.scroll, view.viewport, view.dpr, view.zoom);
        if measures(now) != measures(self) {
            return Some(("changed", "the page has scrolled or changed its size since"));
        }
        // A frame that is new or gone is the page's change, and told by what receives the click.
        let moved =
            self.scrolls.iter().any(|(frame, count)| now.scrolls.get(frame).is_some_and(|n| n != count));
        moved.then_some(("changed", "something in the page has scrolled since"))
    }
}

/// A picture and where it was taken.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The layout that it shows.
    pub view: View,
    /// Its upper left corner in the viewport, in CSS pixels.
    pub origin: [f64; 2],
    /// Pixels per CSS pixel.
    pub scale: f64,
    /// Its size in pixels.
    pub size: [u32; 2],
    at: Instant,
}

impl Taken {
    /// A picture taken now.
    pub fn now(view: View, origin: [f64; 2], scale: f64, size: [u32; 2]) -> Self {
        Self { view, origin, scale, size, at: Instant::now() }
    }

    /// The point of the viewport, in CSS pixels, that a point of the picture shows. None beyond its edges.
    pub fn to_viewport(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let within = |at: f64, size: u32| at >= 0.0 && at < f64::from(size);
        (within(x, self.size[0]) && within(y, self.size[1]))
            .then(|| (self.origin[0] + x / self.scale, self.origin[1] + y / self.scale))
    }

    /// The point of the picture that shows a point of the viewport; it may lie beyond its edges.
    pub fn to_picture(&self, (x, y): (f64, f64)) -> (f64, f64) {
        ((x - self.origin[0]) * self.scale, (y - self.origin[1]) * self.scale)
    }

    /// Whether it is too old to be gone by.
    pub fn is_old(&self) -> bool {
        self.at.elapsed() > Duration::from_secs(Screenshot::ID_SECONDS)
    }
}

/// The last pictures of a session.
#[derive(Debug, Default)]
pub(super) struct Shots {
    taken: VecDeque<(String, Taken)>,
    number: u64,
}

impl State {
    /// Remembers a picture, and names it.
    pub fn remember_shot(&mut self, taken: Taken) -> String {
        let shots = &mut self.shots;
        shots.number += 1;
        let id = format!("s{}", shots.number);
        if shots.taken.len() >= REMEMBERED {
            shots.taken.pop_front();
        }
        shots.taken.push_back((id.clone(), taken));
        id
    }

    /// The picture of that name. None: it never was, or is forgotten.
    pub fn shot(&self, id: &str) -> Option<&Taken> {
        self.shots.taken.iter().rev().find(|(known, _)| known == id).map(|(_, taken)| taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_and_the_viewport_map_both_ways() {
        let key = FrameKey { target: "t".into(), frame: "t".into(), generation: 1, label: 0 };
        let view = View {
            key,
            scroll: [0.0, 100.0],
            viewport: [1280.0, 720.0],
            dpr: 2.0,
            zoom: 1.0,
            scrolls: BTreeMap::new(),
        };
        let taken = Taken::now(view, [40.0, -100.0], 0.5, [100, 50]);
        assert_eq!(taken.to_viewport((10.0, 20.0)), Some((60.0, -60.0)));
        assert_eq!(taken.to_picture((60.0, -60.0)), (10.0, 20.0));
        assert_eq!(taken.to_viewport((100.0, 0.0)), None);
        assert!(!taken.is_old());
    }

    #[test]
    fn a_view_outlives_what_scrolls_and_not_what_comes() {
        let key = FrameKey { target: "t".into(), frame: "t".into(), generation: 1, label: 0 };
        let view = View {
            key: key.clone(),
            scroll: [0.0; 2],
            viewport: [1.0; 2],
            dpr: 1.0,
            zoom: 1.0,
            scrolls: BTreeMap::from([(0, 1), (2, 0)]),
        };
        let with =
            |scrolls: &[(u32, u64)]| View { scrolls: scrolls.iter().copied().collect(), ..view.clone() };
        assert_eq!(view.outlived(&with(&[(0, 1), (2, 0), (3, 9)])), None);
        assert_eq!(view.outlived(&with(&[(0, 1)])), None);
        assert!(view.outlived(&with(&[(0, 1), (2, 1)])).is_some_and(|(reason, _)| reason == "changed"));
        let other = View { key: FrameKey { generation: 2, ..key }, ..view.clone() };
        assert!(view.outlived(&other).is_some_and(|(reason, _)| reason == "navigated"));
        let scrolled = View { scroll: [0.0, 5.0], ..view.clone() };
        assert!(view.outlived(&scrolled).is_some_and(|(reason, _)| reason == "changed"));
    }

    #[test]
    fn ids_are_never_used_again() {
        let mut state = State::default();
        let key = FrameKey { target: "t".into(), frame: "t".into(), generation: 1, label: 0 };
        let view =
            View { key, scroll: [0.0; 2], viewport: [1.0; 2], dpr: 1.0, zoom: 1.0, scrolls: BTreeMap::new() };
        let ids: Vec<_> =
            (0..40).map(|_| state.remember_shot(Taken::now(view.clone(), [0.0; 2], 1.0, [1, 1]))).collect();
        assert!(state.shot(&ids[0]).is_none());
        assert!(state.shot(&ids[39]).is_some());
        assert_ne!(ids[38], ids[39]);
    }
}
