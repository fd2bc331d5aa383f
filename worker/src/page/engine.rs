//! Calls into the injected engine of a frame.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use glass_proto::result::DialogSeen;

use super::attach::BINDING;
use super::state::{Blank, FrameKey};
use super::watch::Halt;
use super::{Pages, State};
use crate::cdp::types::remote::CallArgument;
use crate::cdp::types::{accessibility, dom, runtime};
use crate::cdp::{CdpError, Pending};

/// Runs steps one after the other in one task of the page, and stops at the first that is an error, or a `status`
/// that is not `ready`. Answers what each gave, and the last ref handed out.
const RUN: &str = "async function(steps,...handles){const g=globalThis.glass,out=[];\
if(!g||g.made!==document)return{out:[{error:{kind:'no_engine'}}],last:0};\
for(const[m,a]of steps){let v=g.call(m,a,handles);if(v instanceof Promise)v=await v;out.push(v);\
if(v&&(v.error||(v.status&&v.status!=='ready')))break}\
return{out,last:g.call('last',{}).last}}";

/// How long a child frame's world is waited for: some documents (an error page, a viewer) never get one.
const CHILD_WORLD: Duration = Duration::from_millis(300);
/// How long a child frame may take to answer; the main frame has the operation's whole deadline.
pub(super) const CHILD_ANSWER: Duration = Duration::from_secs(1);

/// One method of the engine with its arguments.
#[derive(Clone, Debug)]
pub struct Step(pub &'static str, pub Value);

/// Why a call into a frame has no answer.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The document went.
    #[error("the frame's document is gone")]
    Gone,
    /// A child frame did not answer in time.
    #[error("the frame did not answer in time")]
    Silent,
    /// Nothing can be asked while this goes on.
    #[error("the page cannot answer")]
    Halted(Halt),
    /// The engine's own answer.
    #[error("the page engine answered {kind}")]
    Engine {
        /// Its kind.
        kind: String,
        /// All of it.
        answer: Value,
    },
    /// Something between us and the page.
    #[error("{0}")]
    Cdp(CdpError),
    /// An answer of another shape.
    #[error("the page engine's answer cannot be read")]
    Shape(#[from] serde_json::Error),
}

/// Answers of the steps of one call.
#[derive(Debug)]
pub struct Call {
    answers: std::vec::IntoIter<Value>,
}

impl Call {
    /// The next step's answer.
    ///
    /// # Errors
    /// The engine's own error, a missing answer, or one of another shape.
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<T, EngineError> {
        let answer = self.answers.next().ok_or_else(|| missing("no answer"))?;
        if let Some(error) = answer.get("error") {
            let kind = error.get("kind").and_then(Value::as_str).unwrap_or("engine").to_owned();
            return Err(EngineError::Engine { kind, answer: error.clone() });
        }
        Ok(serde_json::from_value(answer)?)
    }

    /// Whether there is a further answer.
    pub fn has_more(&self) -> bool {
        self.answers.len() > 0
    }
}

fn missing(what: &str) -> EngineError {
    EngineError::Engine { kind: "engine".to_owned(), answer: json!({ "kind": "engine", "detail": what }) }
}

#[derive(Deserialize)]
struct Ran {
    out: Vec<Value>,
    #[serde(default)]
    last: u32,
}

impl Ran {
    fn lacks_engine(&self) -> bool {
        let error = self.out.first().and_then(|answer| answer.get("error"));
        error.and_then(|error| error.get("kind")).and_then(Value::as_str) == Some("no_engine")
    }
}

impl Pages {
    /// Runs `steps` in the document that `key` names.
    ///
    /// # Errors
    /// [`EngineError::Gone`] when that document is not shown any more; see [`EngineError`].
    pub async fn run(&self, key: &FrameKey, steps: Vec<Step>) -> Result<Call, EngineError> {
        self.run_with(key, steps, &[]).await
    }

    /// The same for a look at all frames: a child frame that does not answer soon is not waited for.
    ///
    /// # Errors
    /// See [`Self::run`]; [`EngineError::Silent`] for a child frame.
    pub async fn look(&self, key: &FrameKey, steps: Vec<Step>) -> Result<Call, EngineError> {
        if key.label == 0 {
            return self.run(key, steps).await;
        }
        let answer = tokio::time::timeout(CHILD_ANSWER, self.run(key, steps)).await;
        answer.unwrap_or(Err(EngineError::Silent))
    }

    pub(super) async fn run_with(
        &self,
        key: &FrameKey,
        steps: Vec<Step>,
        handles: &[String],
    ) -> Result<Call, EngineError> {
        let (session, world, first) = self.world_of(key).await?;
        let opening = steps.len();
        let steps: Vec<Step> = first.into_iter().chain(steps).collect();
        let mut skipped = steps.len() - opening;
        let pending = self.start_run(&session, &world, &steps, handles)?;
        let mut ran: Ran = read_value(self.or_halt(&key.target, pending).await?)?;
        if ran.lacks_engine() {
            // A window that is used again for its next document keeps its worlds and gets no new script.
            let first = self.state().base_step(key).ok_or(EngineError::Gone)?;
            let steps: Vec<Step> = std::iter::once(first).chain(steps.into_iter().skip(skipped)).collect();
            let pending = self.client().start_send(
                Some(&session),
                runtime::Evaluate {
                    expression: crate::injected::ENGINE,
                    unique_context_id: Some(&world),
                    silent: true,
                    return_by_value: true,
                    ..runtime::Evaluate::default()
                },
            );
            self.or_halt(&key.target, pending).await?;
            let pending = self.start_run(&session, &world, &steps, handles)?;
            ran = read_value(self.or_halt(&key.target, pending).await?)?;
            skipped = 1;
        }
        self.state().note_last_ref(key, ran.last);
        let unbound = |answer: &Value| answer.get("bound").and_then(Value::as_bool) == Some(false);
        if skipped > 0 && ran.out.first().is_some_and(unbound) {
            // A popup's window that is used again for its first page lost the way to tell what its guards saw.
            drop(self.start(&session, BINDING));
        }
        if skipped > 0 && ran.out.first().is_some_and(|answer| answer.get("error").is_none()) {
            ran.out.drain(..skipped.min(ran.out.len()));
        }
        Ok(Call { answers: ran.out.into_iter() })
    }

    fn start_run(
        &self,
        session: &str,
        world: &str,
        steps: &[Step],
        handles: &[String],
    ) -> Result<Pending<runtime::Evaluated>, EngineError> {
        let steps: Vec<(&str, &Value)> = steps.iter().map(|Step(method, args)| (*method, args)).collect();
        let steps: Box<RawValue> = to_raw_value(&steps)?;
        let mut arguments = vec![CallArgument { value: Some(&steps), ..CallArgument::default() }];
        arguments
            .extend(handles.iter().map(|id| CallArgument { object_id: Some(id), ..CallArgument::default() }));
        Ok(self.client().start_send(
            Some(session),
            runtime::CallFunctionOn {
                function_declaration: RUN,
                unique_context_id: Some(world),
                arguments: &arguments,
                silent: true,
                return_by_value: true,
                await_promise: true,
                ..runtime::CallFunctionOn::default()
            },
        ))
    }

    /// Session, world and the step that a document's first call begins with. Waits for a world that is being made.
    /// Whether a document that could not be asked may have something that is looked for: not a viewer, an error that stands
    /// in its place, or one that never came.
    pub fn may_hold(&self, key: &FrameKey) -> bool {
        let blank = self.state().target(&key.target).map(|target| target.blank(key));
        matches!(blank, Some(Blank::Silent | Blank::Loading | Blank::Replaced))
    }

    /// Whether a document that could not be asked is one that could have answered: not where there is none, a viewer or an
    /// error stands in its place, or it has gone.
    pub fn is_silent(&self, key: &FrameKey) -> bool {
        self.state().target(&key.target).is_some_and(|target| target.blank(key) == Blank::Silent)
    }

    async fn world_of(&self, key: &FrameKey) -> Result<(Arc<str>, Arc<str>, Option<Step>), EngineError> {
        let mut moved = self.inner.moved.subscribe();
        let until = Instant::now() + CHILD_WORLD;
        loop {
            {
                let mut state = self.state();
                if let Some(halt) = Halt::of(&state, &key.target) {
                    return Err(EngineError::Halted(halt));
                }
                if state.target(&key.target).is_some_and(|target| target.in_viewer(&key.frame)) {
                    return Err(EngineError::Silent);
                }
                let found = state.world(key).ok_or(EngineError::Gone)?;
                if let Some((session, world, first, prime)) = found {
                    drop(state);
                    if prime {
                        self.prime(&session, &key.frame);
                    }
                    return Ok((session, world, first));
                }
            }
            if key.label == 0 {
                self.moved(&mut moved).await?;
                continue;
            }
            if tokio::time::timeout_at(until.into(), self.moved(&mut moved)).await.is_err() {
                self.state().mute(key);
                return Err(EngineError::Silent);
            }
        }
    }

    /// Awaits a reply unless a dialog, a crash or the end of the target makes it wait for ever.
    pub async fn or_halt<R>(
        &self,
        target: &str,
        pending: impl Future<Output = Result<R, CdpError>> + Unpin,
    ) -> Result<R, EngineError> {
        let mut pending = pending;
        let mut moved = self.inner.moved.subscribe();
        let mut blocked = std::pin::pin!(self.blocked_by_a_neighbour(target));
        loop {
            if let Some(halt) = Halt::of(&self.state(), target) {
                // A reply that is already here counts.
                return match futures_util::FutureExt::now_or_never(&mut pending) {
                    Some(reply) => reply.map_err(EngineError::from_cdp),
                    None => Err(EngineError::Halted(halt)),
                };
            }
            tokio::select! {
                biased;
                reply = &mut pending => return reply.map_err(EngineError::from_cdp),
                changed = moved.changed() => if changed.is_err() { return Err(EngineError::Gone) },
                // From now on it is a halt.
                () = &mut blocked => blocked.set(self.blocked_by_a_neighbour(target)),
            }
        }
    }

    /// Waits until an event moved the model, or the browser goes.
    pub(super) async fn moved(
        &self,
        moved: &mut tokio::sync::watch::Receiver<u64>,
    ) -> Result<(), EngineError> {
        tokio::select! {
            _ = moved.changed() => Ok(()),
            gone = self.client().closed() => Err(EngineError::Cdp(CdpError::Closed(gone))),
        }
    }

    /// Tells each parent's engine which element holds which frame, as far as that is not known yet.
    pub async fn place_frames(&self, target: &str) {
        let missing = self.state().unplaced(target);
        let placing = missing.into_iter().map(|(child, parent)| async move {
            let placed = tokio::time::timeout(CHILD_ANSWER, self.place(&child, &parent)).await;
            if let Err(error) = placed.unwrap_or(Err(EngineError::Silent)) {
                tracing::debug!(%error, "a frame's element was not found");
            }
        });
        futures_util::future::join_all(placing).await;
    }

    async fn place(&self, child: &FrameKey, parent: &FrameKey) -> Result<(), EngineError> {
        let session = self.session_of(parent).ok_or(EngineError::Gone)?;
        let owner = self.client().start_send(Some(&session), dom::GetFrameOwner { frame_id: &child.frame });
        let owner = self.or_halt(&child.target, owner).await?;
        // The element as an object of the parent's isolated world.
        let context = self.state().world_number(parent).ok_or(EngineError::Gone)?;
        let resolved = self.client().start_send(
            Some(&session),
            dom::ResolveNode {
                backend_node_id: Some(owner.backend_node_id),
                execution_context_id: Some(context),
                ..dom::ResolveNode::default()
            },
        );
        let object =
            self.or_halt(&child.target, resolved).await?.object.object_id.ok_or(EngineError::Gone)?;
        let steps = vec![Step("frame", json!({ "label": format!("f{}", child.label) }))];
        let mut call = self.run_with(parent, steps, std::slice::from_ref(&object)).await?;
        call.take::<Value>()?;
        drop(self.client().start_send(Some(&session), runtime::ReleaseObject { object_id: &object }));
        self.state().placed(child);
        Ok(())
    }

    /// Whether all frames of a target live in its own CDP session and have their engine, so that the browser answers
    /// what is asked of them in the order of asking.
    pub fn in_one_place(&self, target: &str) -> bool {
        let state = self.state();
        state.target(target).is_some_and(|target| {
            target.frames.values().all(|frame| {
                frame.session == target.session && frame.world.is_some() && frame.begun && !frame.mute
            })
        })
    }

    /// The object that an engine's method answers for a numbered node, and its session. Whoever asks releases it.
    ///
    /// # Errors
    /// See [`Self::run`]; `None` where the method answers no node.
    pub async fn handle(
        &self,
        key: &FrameKey,
        method: &str,
        node: u32,
    ) -> Result<(Arc<str>, Option<String>), EngineError> {
        // The engine is there, and was told its first number, once this has run.
        self.run(key, vec![Step("info", json!({}))]).await?;
        let (session, world, _) = self.world_of(key).await?;
        let arguments: Box<RawValue> = to_raw_value(&(method, json!({ "ref": node })))?;
        let pending = self.client().start_send(
            Some(&session),
            runtime::CallFunctionOn {
                function_declaration: "([method, args]) => globalThis.glass.call(method, args, [])",
                unique_context_id: Some(&world),
                arguments: &[CallArgument { value: Some(&arguments), ..CallArgument::default() }],
                silent: true,
                ..runtime::CallFunctionOn::default()
            },
        );
        let reply = self.or_halt(&key.target, pending).await?;
        let is_node = reply.result.subtype.as_deref() == Some("node");
        Ok((session, reply.result.object_id.filter(|_| is_node)))
    }

    /// The object of a node that the browser told of, in the engine's world, and its session.
    ///
    /// # Errors
    /// [`EngineError::Gone`] when the node or its document has gone.
    pub async fn handle_of_backend(
        &self,
        key: &FrameKey,
        backend_node: i64,
    ) -> Result<(Arc<str>, String), EngineError> {
        self.run(key, vec![Step("info", json!({}))]).await?;
        let session = self.session_of(key).ok_or(EngineError::Gone)?;
        let context = self.state().world_number(key).ok_or(EngineError::Gone)?;
        let resolved = self.client().start_send(
            Some(&session),
            dom::ResolveNode {
                backend_node_id: Some(backend_node),
                execution_context_id: Some(context),
                ..dom::ResolveNode::default()
            },
        );
        let object = self.or_halt(&key.target, resolved).await?.object.object_id;
        Ok((session, object.ok_or(EngineError::Gone)?))
    }

    /// Runs `steps` in the document that `key` names, with objects that they are about.
    ///
    /// # Errors
    /// See [`Self::run`].
    pub async fn run_on(
        &self,
        key: &FrameKey,
        steps: Vec<Step>,
        objects: &[String],
    ) -> Result<Call, EngineError> {
        self.run_with(key, steps, objects).await
    }

    /// CDP session of a document.
    pub fn session_of(&self, key: &FrameKey) -> Option<Arc<str>> {
        let state = self.state();
        let frame = state.target(&key.target)?.frames.get(&key.frame)?;
        (frame.generation == key.generation).then(|| frame.session.clone())
    }

    /// Lets the accessibility cache go of targets that no operation used for a while (DESIGN 6).
    pub fn rest(&self, unused: std::time::Duration) {
        if !self.uses_cache() {
            return;
        }
        let sessions = self.state().fall_asleep(unused);
        for session in sessions {
            drop(self.start(&session, accessibility::Disable {}));
        }
    }

    /// Notes that an operation uses this target, and switches on what [`Self::rest`] switched off.
    pub fn use_target(&self, target: &str) {
        let sessions = self.state().wake(target);
        for session in sessions {
            drop(self.start(&session, accessibility::Enable {}));
        }
    }
}

/// The value of a call that returned by value.
pub(super) fn read_value<T: DeserializeOwned>(reply: runtime::Evaluated) -> Result<T, EngineError> {
    if let Some(details) = reply.exception_details {
        tracing::debug!(text = %details.text, "the page engine threw");
        return Err(missing("it threw"));
    }
    let value = reply.result.value.ok_or_else(|| missing("no value"))?;
    Ok(serde_json::from_str(value.get())?)
}

impl EngineError {
    pub(super) fn from_cdp(error: CdpError) -> Self {
        if error.context_destroyed() || error.no_session() || error.no_frame() || error.node_gone() {
            return Self::Gone;
        }
        match error {
            CdpError::Detached { .. } => Self::Gone,
            CdpError::Crashed { .. } => Self::Halted(Halt::Crashed),
            other => Self::Cdp(other),
        }
    }

    /// The dialog, when that is why.
    pub fn dialog(&self) -> Option<&DialogSeen> {
        match self {
            Self::Halted(Halt::Dialog(dialog)) => Some(dialog),
            _ => None,
        }
    }
}

type World = (Arc<str>, Arc<str>, Option<Step>, bool);

impl State {
    /// None: that document is gone. Some(None): its world is still being made.
    fn world(&mut self, key: &FrameKey) -> Option<Option<World>> {
        let frame = self.targets.get_mut(&key.target)?.frames.get_mut(&key.frame)?;
        if frame.generation != key.generation {
            return None;
        }
        let Some(world) = frame.world.clone() else {
            return if frame.mute { None } else { Some(None) };
        };
        let first = (!frame.begun).then(|| Step("begin", json!({ "base": frame.base })));
        frame.begun = true;
        let prime = !frame.primed;
        frame.primed = true;
        Some(Some((frame.session.clone(), world, first, prime)))
    }

    fn base_step(&self, key: &FrameKey) -> Option<Step> {
        let frame = self.targets.get(&key.target)?.frames.get(&key.frame)?;
        (frame.generation == key.generation).then(|| Step("begin", json!({ "base": frame.base })))
    }

    fn mute(&mut self, key: &FrameKey) {
        let frame = self.targets.get_mut(&key.target).and_then(|target| target.frames.get_mut(&key.frame));
        if let Some(frame) = frame.filter(|frame| frame.generation == key.generation && frame.world.is_none())
        {
            frame.mute = true;
        }
    }

    fn world_number(&self, key: &FrameKey) -> Option<i64> {
        let frame = self.targets.get(&key.target)?.frames.get(&key.frame)?;
        (frame.generation == key.generation).then_some(frame.world_number).flatten()
    }

    fn note_last_ref(&mut self, key: &FrameKey, last: u32) {
        if let Some(target) = self.targets.get_mut(&key.target)
            && key.label == 0
        {
            target.next_ref = target.next_ref.max(last.saturating_add(1));
        }
    }

    fn unplaced(&self, target: &str) -> Vec<(FrameKey, FrameKey)> {
        let Some(target) = self.targets.get(target) else { return Vec::new() };
        let open = target.frames.iter().filter(|(_, frame)| !frame.placed);
        open.filter_map(|(id, frame)| Some((target.key(id)?, target.key(frame.parent.as_ref()?)?))).collect()
    }

    fn placed(&mut self, key: &FrameKey) {
        if let Some(frame) =
            self.targets.get_mut(&key.target).and_then(|target| target.frames.get_mut(&key.frame))
            && frame.generation == key.generation
        {
            frame.placed = true;
        }
    }

    fn fall_asleep(&mut self, unused: std::time::Duration) -> Vec<Arc<str>> {
        let mut sessions = Vec::new();
        for target in self.targets.values_mut() {
            if target.dormant || target.used.elapsed() < unused {
                continue;
            }
            target.dormant = true;
            for frame in target.frames.values_mut() {
                frame.primed = false;
                if !sessions.contains(&frame.session) {
                    sessions.push(frame.session.clone());
                }
            }
        }
        sessions
    }

    fn wake(&mut self, id: &str) -> Vec<Arc<str>> {
        let Some(target) = self.targets.get_mut(id) else { return Vec::new() };
        target.used = std::time::Instant::now();
        if !std::mem::take(&mut target.dormant) {
            return Vec::new();
        }
        let mut sessions: Vec<Arc<str>> = target.frames.values().map(|frame| frame.session.clone()).collect();
        sessions.sort();
        sessions.dedup();
        sessions
    }
}
