//! What is asked of the server, after the guard: lists, calls, resources and prompts (contract 9.5, 9.7).

use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use glass_proto::op::{AnyOperation, CallOptions, ImageFormat, Screenshot};
use glass_proto::wire::client as pb;
use glass_proto::{Dispatched, ErrorKind, OpError, Outcome, Phase};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, RequestId, ResourceTemplate,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{NotificationContext, RequestContext, Service, ServiceRole};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::guard::Shared;
use super::link::{Link, Ran};
use super::message::code;
use super::own;
use super::prompts;
use super::store::Store;
use super::tools::{self, Answered, Call, Tools};
use crate::error::unreadable;
use crate::follow::News;
use crate::output::diagnostic;

/// When a call is first told of, and how often after that (contract 9.7).
const NEWS: Duration = Duration::from_secs(1);
/// Pictures that grow beyond this are taken again as JPEG (contract 3.8).
const LARGE_PICTURE: usize = 700 * 1024;
/// Quality of those.
const QUALITY: u32 = 80;

/// The longest URI that an error repeats.
const LONGEST_URI: usize = 1024;

/// Where calls find an idempotency key.
const KEYS: [&str; 2] = ["glass/idempotency-key", "dev.r5d/idempotency-key"];

/// The handler.
#[derive(Debug)]
pub struct Handler {
    /// What the guard knows of requests.
    pub shared: Arc<Shared>,
    /// The tools.
    pub tools: Tools,
    /// The way to the daemon.
    pub link: Arc<Link>,
    /// What results left behind.
    pub store: Store,
    /// The page as the last answer knew it.
    pub page: std::sync::Mutex<Option<Value>>,
    /// Whether each call is told on standard error.
    pub log: bool,
}

/// How a call ended, for the log and the answer.
struct Ended {
    result: CallToolResult,
    outcome: Outcome,
    dispatched: Dispatched,
    execution: Option<String>,
}

impl Handler {
    async fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        about: &About,
    ) -> Result<Ended, ErrorData> {
        if own::has(name) {
            if about.key.is_some() {
                let error = OpError::rejected(
                    ErrorKind::Unsupported,
                    Phase::Preflight,
                    "this build keeps no receipts, so it takes no idempotency key",
                    "call without the key",
                );
                return Ok(failed(error, None));
            }
            let result = own::call(&self.link, name, &arguments).await;
            let outcome = if result.is_error == Some(true) { Outcome::Rejected } else { Outcome::Completed };
            return Ok(Ended { result, outcome, dispatched: Dispatched::No, execution: None });
        }
        let Some(entry) = self.tools.get(name) else {
            let near = self.tools.nearest(name).map_or(String::new(), |near| format!("; {near} was meant?"));
            return Err(ErrorData::invalid_params(format!("there is no such tool{near}"), None));
        };
        let call = match tools::prepare(&self.tools, entry, arguments, about.key.clone()) {
            Ok(call) => call,
            Err(error) => return Ok(failed(error, None)),
        };
        let deadline = call.options.timeout(call.operation.timeout());
        let news = News::default();
        let work = Box::pin(self.link.run(&call, &about.cancelled, &news));
        let ran = self.told(name, about, deadline, &news, work).await;
        let Ran { ended, seen, times } = ran;
        let answered = match read(ended) {
            Ok((outcome, json)) => {
                tools::success(&call.operation, &json, &seen).map(|answer| (outcome, answer))
            }
            Err(error) => Err(error),
        };
        match answered {
            Ok((outcome, answered)) => {
                let answered = self.smaller(&call, answered, about).await;
                Ok(Ended {
                    result: self.keep(name, answered),
                    outcome,
                    dispatched: Dispatched::Yes,
                    execution: seen.execution.map(|id| id.to_string()),
                })
            }
            Err(mut error) => {
                error.execution_id = error.execution_id.or(seen.execution);
                let trace = match call.include_trace && !about.cancelled.is_cancelled() {
                    true => Some(self.trace(&call, &error, &times).await),
                    false => None,
                };
                Ok(failed(error, trace))
            }
        }
    }

    /// Waits for a call, and tells the client every second that it goes on.
    async fn told<T>(
        &self,
        name: &str,
        about: &About,
        deadline: Duration,
        news: &News,
        work: impl Future<Output = T>,
    ) -> T {
        let mut work = std::pin::pin!(work);
        let begun = Instant::now();
        loop {
            match tokio::time::timeout(NEWS, &mut work).await {
                Ok(done) => return done,
                Err(_) => {
                    let Some(token) = &about.progress else { continue };
                    let step = news.text().map_or(String::new(), |step| format!(" with {step}"));
                    let most = deadline.as_secs_f32().ceil();
                    let message = format!("{name} goes on{step}, at most {most} s");
                    self.shared.progress(&about.id, token, begun.elapsed().as_secs_f64(), &message);
                }
            }
        }
    }

    /// A large PNG that nobody asked for by name is taken again as JPEG.
    async fn smaller(&self, call: &Call, answered: Answered, about: &About) -> Answered {
        let screenshot = match &call.operation {
            AnyOperation::Screenshot(screenshot) => screenshot.clone(),
            AnyOperation::Observe(observe) if observe.include_screenshot => {
                Screenshot { max_side: Some(Screenshot::MODEL_SIDE), ..Screenshot::default() }
            }
            _ => return answered,
        };
        let large = answered
            .picture
            .as_ref()
            .is_some_and(|(bytes, media)| *media == "image/png" && bytes.len() > LARGE_PICTURE);
        if !large || call.chose_format {
            return answered;
        }
        let mut again = call.clone();
        let mut screenshot = screenshot;
        if let AnyOperation::Observe(_) = &call.operation {
            // The picture is of the whole page, whatever part of it was observed.
            again.options = CallOptions {
                timeout_ms: call.options.timeout_ms,
                target_id: call.options.target_id.clone(),
                ..CallOptions::default()
            };
        }
        screenshot.format = ImageFormat::Jpeg;
        screenshot.quality = Some(QUALITY);
        again.operation = AnyOperation::Screenshot(screenshot);
        let ran = self.link.run(&again, &about.cancelled, &News::default()).await;
        let retaken =
            read(ran.ended).and_then(|(_, json)| tools::success(&again.operation, &json, &ran.seen));
        let Ok(retaken) = retaken else { return answered };
        if let AnyOperation::Screenshot(_) = &call.operation {
            return retaken;
        }
        let mut answered = answered;
        answered.result.content.truncate(1);
        answered.result.content.extend(retaken.result.content);
        answered.picture = retaken.picture;
        answered
    }

    /// Keeps what can be read later, and links to it.
    fn keep(&self, name: &str, answered: Answered) -> CallToolResult {
        let mut result = answered.result;
        if let Some(page) = answered.page {
            *self.page.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(page);
        }
        if let Some(text) = answered.observation {
            self.store.observation(text);
        }
        if let Some((bytes, media)) = answered.picture {
            let kept = self.store.picture(bytes, media);
            result.content.push(ContentBlock::text(format!("kept as {}", kept.uri)));
        }
        for (name, bytes, media) in answered.files {
            // A picture is seen at once, unless it is larger than any that is sent unasked.
            if media.starts_with("image/") && name.starts_with("step-") && bytes.len() <= LARGE_PICTURE {
                result.content.push(ContentBlock::image(STANDARD.encode(&bytes), media.clone()));
            }
            result.content.push(ContentBlock::resource_link(self.store.file(&name, bytes, media)));
        }
        if let Some(text) = answered.whole_text {
            result.content.push(ContentBlock::resource_link(self.store.text(name, text)));
        }
        result
    }

    async fn trace(&self, call: &Call, error: &OpError, times: &Value) -> Value {
        let never = CancellationToken::new();
        let page = self.page.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let mut answers = Vec::new();
        for question in crate::trace::questions(call.options.target_id.as_ref()) {
            let (operation, options) = (question.operation.clone(), question.options.clone());
            let asked = Call { operation, options, ..call.clone() };
            // The trace says what is not in it. Why belongs to another call than the one it is about.
            let answer = read(self.link.run(&asked, &never, &News::default()).await.ended).ok();
            let answer = answer.and_then(|(_, json)| serde_json::from_slice(&json).ok());
            answers.push((question, answer));
        }
        crate::trace::trace(error, times, page, answers)
    }
}

fn failed(error: OpError, trace: Option<Value>) -> Ended {
    Ended {
        result: tools::failure(&error, trace),
        outcome: error.outcome,
        dispatched: error.dispatched,
        execution: error.execution_id.map(|id| id.to_string()),
    }
}

/// The result of an operation, or its error.
fn read(ended: Result<pb::Ended, OpError>) -> Result<(Outcome, Vec<u8>), OpError> {
    let ended = ended?;
    match ended.answer {
        Some(pb::ended::Answer::ResultJson(json)) => {
            let outcome = Outcome::from_name(&ended.outcome).ok_or_else(|| unreadable("answer"))?;
            Ok((outcome, json))
        }
        Some(pb::ended::Answer::ErrorJson(json)) => {
            Err(serde_json::from_slice(&json).unwrap_or_else(|_| unreadable("answer")))
        }
        None => Err(unreadable("answer")),
    }
}

/// What is known of a request beside its parameters.
struct About {
    id: RequestId,
    cancelled: CancellationToken,
    progress: Option<Value>,
    key: Option<String>,
}

impl Handler {
    fn about(&self, context: &RequestContext<RoleServer>) -> About {
        let meta = &context.meta;
        // Whatever stands there is meant as a key: it is passed on, and never ignored.
        let key = KEYS.iter().find_map(|key| meta.get(*key).filter(|key| !key.is_null()));
        let key = key.map(|key| key.as_str().map_or_else(|| key.to_string(), str::to_owned));
        About {
            id: context.id.clone(),
            cancelled: self.shared.token(&context.id),
            progress: meta.get("progressToken").filter(|token| !token.is_null()).cloned(),
            key,
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        let implementation = Implementation::new("glass", env!("CARGO_PKG_VERSION")).with_title("Glass");
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(prompts::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let denied = self.link.denied().await;
        let mut listed = self.tools.listed().to_vec();
        listed.retain(|tool| !denied.iter().any(|name| *name == tool.name));
        Ok(ListToolsResult::with_all_items(listed))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let about = self.about(&context);
        let begun = Instant::now();
        let arguments = request.arguments.unwrap_or_default();
        let ended = Box::pin(self.call(&request.name, arguments, &about)).await?;
        if self.log {
            let id = ended.execution.as_deref().unwrap_or("-");
            let line = format!(
                "{} {} {} ms {id}",
                self.tools.known(&request.name).unwrap_or("unknown"),
                ended.outcome.name(),
                begun.elapsed().as_millis()
            );
            // Where nobody reads it, it is not needed.
            let _ = diagnostic(&line);
        }
        if about.cancelled.is_cancelled() {
            let mut data = json!({ "dispatched": ended.dispatched });
            if let Some(execution) = ended.execution {
                data["executionId"] = execution.into();
            }
            return Err(ErrorData::new(ErrorCode(code::CANCELLED), "the request was cancelled", Some(data)));
        }
        Ok(ended.result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.store.list()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let session = self.link.session();
        let templates = [
            ("screenshot", "A picture that a screenshot kept"),
            ("file", "A file that a script or a step of a batch made"),
            ("result", "A text that was too long"),
        ];
        let templates = templates.map(|(kind, description)| {
            ResourceTemplate::new(format!("glass://session/{session}/{kind}/{{name}}"), kind)
                .with_description(description)
        });
        Ok(ListResourceTemplatesResult::with_all_items(templates.to_vec()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let found = self.store.read(&request.uri).ok_or_else(|| {
            // As it was asked for, unless that is no URI of ours by its length alone.
            let data = (request.uri.len() <= LONGEST_URI).then(|| json!({ "uri": request.uri }));
            ErrorData::resource_not_found("there is no such resource, or no longer", data)
        })?;
        Ok(ReadResourceResult::new(vec![found]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        prompts::get(&request.name, &arguments)
            .map(Into::into)
            .map_err(|message| ErrorData::invalid_params(message, None))
    }
}

/// A handler whose faults are answers: a panic is an error of its request, not a lost answer (contract 9.2).
#[derive(Debug)]
pub struct Isolated<H>(pub Arc<H>);

impl<H: ServerHandler> Service<RoleServer> for Isolated<H> {
    async fn handle_request(
        &self,
        request: <RoleServer as ServiceRole>::PeerReq,
        context: RequestContext<RoleServer>,
    ) -> Result<<RoleServer as ServiceRole>::Resp, ErrorData> {
        let handler = self.0.clone();
        let work = tokio::spawn(async move { Service::handle_request(&*handler, request, context).await });
        work.await.unwrap_or_else(|_| {
            Err(ErrorData::internal_error("a fault inside glass; see its standard error", None))
        })
    }

    async fn handle_notification(
        &self,
        _: <RoleServer as ServiceRole>::PeerNot,
        _: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // The guard has acted on every notification that means something here.
        Ok(())
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&*self.0)
    }
}

#[cfg(test)]
mod tests;
