//! From a point in a frame to the point of the page that input is sent to, with a hit test at every level.

use serde::Deserialize;
use serde_json::json;

use super::state::FrameKey;
use super::{EngineError, Pages, Step};
use crate::cdp::types::dom;

/// What stands in the way.
#[derive(Clone, Debug, Deserialize)]
pub struct Blocker {
    /// Its number in its document.
    #[serde(rename = "ref")]
    pub node: Option<u32>,
    /// Its role.
    #[serde(default)]
    pub role: String,
    /// Its name.
    #[serde(default)]
    pub label: String,
}

/// Where a point of a frame lies in the page.
#[derive(Clone, Debug)]
pub enum Mapped {
    /// Here, and every frame on the way is what is hit.
    At(f64, f64),
    /// The frame's element is covered or out of view in this ancestor.
    Blocked {
        /// The ancestor's document.
        frame: FrameKey,
        /// What is hit instead.
        blocker: Option<Blocker>,
    },
}

#[derive(Deserialize)]
struct HitFrame {
    ok: bool,
    blocker: Option<Blocker>,
}

#[derive(Deserialize)]
struct FrameVisible {
    visible: bool,
    rect: [f64; 4],
}

impl Pages {
    /// Maps a point of the document `key` to its page.
    ///
    /// # Errors
    /// When a frame on the way cannot be asked.
    pub async fn to_page(&self, key: &FrameKey, point: (f64, f64)) -> Result<Mapped, EngineError> {
        let chain = {
            let state = self.state();
            let target = state.target(&key.target).ok_or(EngineError::Gone)?;
            target.chain(&key.frame).iter().filter_map(|id| target.key(id)).collect::<Vec<_>>()
        };
        let mut at = point;
        let mut from = 0;
        while from + 1 < chain.len() {
            let (child, parent) = (&chain[from], &chain[from + 1]);
            let label = format!("f{}", child.label);
            let mut call = self.run(parent, vec![Step("frameVisible", json!({ "label": label }))]).await?;
            let shown: FrameVisible = call.take()?;
            if !shown.visible {
                return Ok(Mapped::Blocked { frame: parent.clone(), blocker: None });
            }
            let (next, local_root) = self.lift(child, parent, at, shown.rect).await?;
            at = next;
            // A turned or scaled frame is mapped to the viewport of its local root at once.
            let to = if local_root { self.local_root(&chain, from + 1) } else { from + 1 };
            let (child, parent) = (&chain[to - 1], &chain[to]);
            let args = json!({ "label": format!("f{}", child.label), "x": at.0, "y": at.1 });
            let mut call = self.run(parent, vec![Step("hitFrame", args)]).await?;
            let hit: HitFrame = call.take()?;
            if !hit.ok {
                return Ok(Mapped::Blocked { frame: parent.clone(), blocker: hit.blocker });
            }
            from = to;
        }
        Ok(Mapped::At(at.0, at.1))
    }

    /// The box in the page's viewport that holds a box of the document `key`, without a hit test.
    ///
    /// # Errors
    /// When a frame on the way cannot be asked.
    pub async fn box_in_page(&self, key: &FrameKey, rect: [f64; 4]) -> Result<[f64; 4], EngineError> {
        let chain = {
            let state = self.state();
            let target = state.target(&key.target).ok_or(EngineError::Gone)?;
            target.chain(&key.frame).iter().filter_map(|id| target.key(id)).collect::<Vec<_>>()
        };
        let [x, y, width, height] = rect;
        let mut corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)];
        let mut from = 0;
        while from + 1 < chain.len() {
            let (child, parent) = (&chain[from], &chain[from + 1]);
            let label = format!("f{}", child.label);
            let mut call = self.run(parent, vec![Step("frameVisible", json!({ "label": label }))]).await?;
            let shown: FrameVisible = call.take()?;
            let mut local_root = false;
            for corner in &mut corners {
                (*corner, local_root) = self.lift(child, parent, *corner, shown.rect).await?;
            }
            from = if local_root { self.local_root(&chain, from + 1) } else { from + 1 };
        }
        let (xs, ys) = (corners.map(|corner| corner.0), corners.map(|corner| corner.1));
        let low = |all: [f64; 4]| all.into_iter().fold(f64::INFINITY, f64::min);
        let high = |all: [f64; 4]| all.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Ok([low(xs), low(ys), high(xs) - low(xs), high(ys) - low(ys)])
    }

    /// Index in `chain` of the topmost frame that lives in the same session as the one at `from`.
    fn local_root(&self, chain: &[FrameKey], from: usize) -> usize {
        let session = self.session_of(&chain[from]);
        let above = chain[from..].iter().take_while(|key| self.session_of(key) == session).count();
        from + above.max(1) - 1
    }

    /// Scrolls the elements of the frames that `key` lies in into view, the outermost first.
    ///
    /// # Errors
    /// When a frame on the way cannot be asked.
    pub async fn scroll_frames(&self, key: &FrameKey, attempt: usize) -> Result<(), EngineError> {
        let chain = {
            let state = self.state();
            let target = state.target(&key.target).ok_or(EngineError::Gone)?;
            target.chain(&key.frame).iter().filter_map(|id| target.key(id)).collect::<Vec<_>>()
        };
        for pair in chain.windows(2).rev() {
            let [child, parent] = pair else { continue };
            let args = json!({ "label": format!("f{}", child.label), "attempt": attempt });
            self.run(parent, vec![Step("frameScroll", args)]).await?;
        }
        Ok(())
    }

    /// The point in the parent's viewport; or, with true, in that of the parent's local root frame.
    async fn lift(
        &self,
        child: &FrameKey,
        parent: &FrameKey,
        point: (f64, f64),
        rect: [f64; 4],
    ) -> Result<((f64, f64), bool), EngineError> {
        let session = self.session_of(parent).ok_or(EngineError::Gone)?;
        let owner = self.client().start_send(Some(&session), dom::GetFrameOwner { frame_id: &child.frame });
        let owner = self.or_halt(&child.target, owner).await?;
        let boxes = self
            .client()
            .start_send(Some(&session), dom::GetBoxModel { backend_node_id: owner.backend_node_id });
        let quad = self.or_halt(&child.target, boxes).await?.model.content;
        let mut call = self.run(child, vec![Step("info", json!({}))]).await?;
        let info: Info = call.take()?;
        let [width, height] = info.viewport.map(|side| side.max(1.0));
        let [x, y, w, h] = rect;
        let upright = (quad[1] - quad[3]).abs() < 0.5 && (quad[0] - quad[6]).abs() < 0.5 && quad[2] > quad[0];
        let same_size = (quad[2] - quad[0] - w).abs() < 1.0 && (quad[5] - quad[3] - h).abs() < 1.0;
        if upright && same_size {
            return Ok(((x + point.0 * w / width, y + point.1 * h / height), false));
        }
        Ok((project(&quad, point.0 / width, point.1 / height), true))
    }
}

#[derive(Deserialize)]
struct Info {
    viewport: [f64; 2],
}

/// The point of a quad at the fractions `u` and `v` of its sides, with perspective (the usual projective map of the
/// unit square).
fn project(quad: &[f64; 8], u: f64, v: f64) -> (f64, f64) {
    let [x0, y0, x1, y1, x2, y2, x3, y3] = *quad;
    let (sx, sy) = (x0 - x1 + x2 - x3, y0 - y1 + y2 - y3);
    let (dx1, dx2, dy1, dy2) = (x1 - x2, x3 - x2, y1 - y2, y3 - y2);
    let det = dx1 * dy2 - dx2 * dy1;
    let (g, h) = if det.abs() < 1e-9 {
        (0.0, 0.0)
    } else {
        ((sx * dy2 - dx2 * sy) / det, (dx1 * sy - sx * dy1) / det)
    };
    let (a, b, c) = (x1 - x0 + g * x1, x3 - x0 + h * x3, x0);
    let (d, e, f) = (y1 - y0 + g * y1, y3 - y0 + h * y3, y0);
    let w = g * u + h * v + 1.0;
    ((a * u + b * v + c) / w, (d * u + e * v + f) / w)
}

#[cfg(test)]
mod tests {
    use super::project;

    fn near(a: (f64, f64), b: (f64, f64)) {
        assert!((a.0 - b.0).abs() < 1e-6 && (a.1 - b.1).abs() < 1e-6, "{a:?} is not {b:?}");
    }

    #[test]
    fn a_turned_quad_turns_the_point() {
        let half_turn = [100.0, 50.0, 0.0, 50.0, 0.0, 0.0, 100.0, 0.0];
        near(project(&half_turn, 0.1, 0.1), (90.0, 45.0));
        near(project(&half_turn, 1.0, 1.0), (0.0, 0.0));
    }

    #[test]
    fn corners_of_a_perspective_quad_are_corners() {
        let quad = [0.0, 0.0, 100.0, 20.0, 100.0, 80.0, 0.0, 100.0];
        near(project(&quad, 0.0, 0.0), (0.0, 0.0));
        near(project(&quad, 1.0, 0.0), (100.0, 20.0));
        near(project(&quad, 1.0, 1.0), (100.0, 80.0));
        near(project(&quad, 0.0, 1.0), (0.0, 100.0));
    }
}
