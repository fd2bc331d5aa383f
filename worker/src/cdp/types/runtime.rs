//! `Runtime`: execution contexts and running script in them.

use serde::{Deserialize, Serialize};

use super::empty::Empty;
use super::remote::{CallArgument, ExceptionDetails, RemoteObject};
use crate::cdp::command::command;

/// Turns context events on; existing contexts are announced before the reply.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Enable {}
command!(Enable = "Runtime.enable" -> Empty);

/// Turns context events off.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Disable {}
command!(Disable = "Runtime.disable" -> Empty);

/// Lets a target go that waits since it was attached.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct RunIfWaitingForDebugger {}
command!(RunIfWaitingForDebugger = "Runtime.runIfWaitingForDebugger" -> Empty);

/// Evaluates an expression.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluate<'a> {
    /// The script.
    pub expression: &'a str,
    /// The context; the page's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<i64>,
    /// The context by its unique id, which is not reused across processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique_context_id: Option<&'a str>,
    /// Where the resulting object is kept until the group is released.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_group: Option<&'a str>,
    /// Whether exceptions are kept from the page's console and debugger.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
    /// Whether the result comes as JSON.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub return_by_value: bool,
    /// Whether a promise is awaited.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub await_promise: bool,
    /// Whether it counts as a user's gesture.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub user_gesture: bool,
    /// Whether the console's helper functions are there.
    #[serde(rename = "includeCommandLineAPI", skip_serializing_if = "std::ops::Not::not")]
    pub include_command_line_api: bool,
    /// Whether a side effect is an exception.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub throw_on_side_effect: bool,
    /// Whether `let` may be repeated and `await` stands at top level.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repl_mode: bool,
    /// Ends the script after this many milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Whether `eval` inside may pass the page's policy; true when absent.
    #[serde(rename = "allowUnsafeEvalBlockedByCSP", skip_serializing_if = "Option::is_none")]
    pub allow_unsafe_eval_blocked_by_csp: Option<bool>,
}
command!(Evaluate<'a> = "Runtime.evaluate" -> Evaluated);

/// Calls a function.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFunctionOn<'a> {
    /// Source of the function.
    pub function_declaration: &'a str,
    /// `this`, which also names the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<&'a str>,
    /// The context, when there is no object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context_id: Option<i64>,
    /// The context by its unique id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique_context_id: Option<&'a str>,
    /// Arguments.
    pub arguments: &'a [CallArgument<'a>],
    /// Where the resulting object is kept until the group is released.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_group: Option<&'a str>,
    /// Whether exceptions are kept from the page's console and debugger.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
    /// Whether the result comes as JSON.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub return_by_value: bool,
    /// Whether a promise is awaited.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub await_promise: bool,
    /// Whether it counts as a user's gesture.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub user_gesture: bool,
    /// Whether a side effect is an exception.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub throw_on_side_effect: bool,
}
command!(CallFunctionOn<'a> = "Runtime.callFunctionOn" -> Evaluated);

/// How a script ended.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluated {
    /// Its value, or what it threw.
    pub result: RemoteObject,
    /// What it threw, when it threw.
    pub exception_details: Option<ExceptionDetails>,
}

/// Ends the running script of the page's process, the page's own included.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct TerminateExecution {}
command!(TerminateExecution = "Runtime.terminateExecution" -> Empty);

/// Releases an object.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseObject<'a> {
    /// The object.
    pub object_id: &'a str,
}
command!(ReleaseObject<'a> = "Runtime.releaseObject" -> Empty);

/// Releases the objects of a group.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseObjectGroup<'a> {
    /// The group.
    pub object_group: &'a str,
}
command!(ReleaseObjectGroup<'a> = "Runtime.releaseObjectGroup" -> Empty);

/// Lists the properties of an object.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetProperties<'a> {
    /// The object.
    pub object_id: &'a str,
    /// Whether inherited ones are left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own_properties: bool,
}
command!(GetProperties<'a> = "Runtime.getProperties" -> Properties);

/// The properties of an object.
#[derive(Clone, Debug, Deserialize)]
pub struct Properties {
    /// In order.
    pub result: Vec<Property>,
}

/// One property.
#[derive(Clone, Debug, Deserialize)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its value, unless it is an accessor.
    pub value: Option<RemoteObject>,
}

/// Gives contexts a function whose calls are announced by [`BindingCalled`].
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddBinding<'a> {
    /// Its global name.
    pub name: &'a str,
    /// Only contexts of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context_name: Option<&'a str>,
}
command!(AddBinding<'a> = "Runtime.addBinding" -> Empty);

/// A page called a binding.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BindingCalled {
    /// Which one.
    pub name: String,
    /// Its argument.
    pub payload: String,
    /// The calling context.
    pub execution_context_id: i64,
}

impl BindingCalled {
    /// The name of the event.
    pub const METHOD: &'static str = "Runtime.bindingCalled";
}

/// A world that scripts run in.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionContext {
    /// Its id in this session's process.
    pub id: i64,
    /// Its id across processes.
    #[serde(default)]
    pub unique_id: String,
    /// Its origin.
    #[serde(default)]
    pub origin: String,
    /// The world's name; empty for the page's own.
    #[serde(default)]
    pub name: String,
    /// What Blink says about it.
    pub aux_data: Option<ContextAuxData>,
}

/// What Blink says about a context.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextAuxData {
    /// Whether it is the page's own world.
    #[serde(default)]
    pub is_default: bool,
    /// `default`, `isolated` or `worker`.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// Its frame.
    pub frame_id: Option<String>,
}

/// A context exists.
#[derive(Clone, Debug, Deserialize)]
pub struct ExecutionContextCreated {
    /// The context.
    pub context: ExecutionContext,
}

impl ExecutionContextCreated {
    /// The name of the event.
    pub const METHOD: &'static str = "Runtime.executionContextCreated";
}

/// A context is gone.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionContextDestroyed {
    /// Its id.
    pub execution_context_id: i64,
    /// Its id across processes.
    #[serde(default)]
    pub execution_context_unique_id: String,
}

impl ExecutionContextDestroyed {
    /// The name of the event.
    pub const METHOD: &'static str = "Runtime.executionContextDestroyed";
}

/// All contexts of the session are gone.
#[derive(Clone, Debug, Deserialize)]
pub struct ExecutionContextsCleared {}

impl ExecutionContextsCleared {
    /// The name of the event.
    pub const METHOD: &'static str = "Runtime.executionContextsCleared";
}

/// A page wrote to its console.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsoleApiCalled {
    /// Such as `log`, `error`, `warning`, `assert`.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// What it wrote.
    #[serde(default)]
    pub args: Vec<RemoteObject>,
    /// In which context.
    #[serde(default)]
    pub execution_context_id: i64,
    /// From where.
    pub stack_trace: Option<StackTrace>,
}

impl ConsoleApiCalled {
    /// The name of the event.
    pub const METHOD: &'static str = "Runtime.consoleAPICalled";
}

/// Where a script was.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StackTrace {
    /// The innermost first.
    #[serde(default)]
    pub call_frames: Vec<CallFrame>,
}

/// One function of a stack.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFrame {
    /// Of the script.
    #[serde(default)]
    pub url: String,
    /// Line, from 0.
    #[serde(default)]
    pub line_number: i64,
}

/// An exception that nobody caught.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExceptionThrown {
    /// It.
    pub exception_details: ExceptionDetails,
}

impl ExceptionThrown {
    /// The name of the event.
    pub const METHOD: &'static str = "Runtime.exceptionThrown";
}
