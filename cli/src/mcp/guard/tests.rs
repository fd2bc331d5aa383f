use std::io::{Cursor, PipeReader, PipeWriter, pipe};

use rmcp::model::{EmptyResult, ErrorData, ServerResult};

use super::*;

struct World {
    guard: Guard,
    shared: Arc<Shared>,
    input: PipeWriter,
    output: PipeReader,
}

fn never() -> bool {
    false
}

fn world(reply: CancelReply) -> World {
    let (read, input) = pipe().unwrap();
    let (output, write) = pipe().unwrap();
    let (guard, shared) = Guard::start(read, write, Limits::default(), reply, never).unwrap();
    World { guard, shared, input, output }
}

fn write(world: &mut World, text: &str) {
    world.input.write_all(text.as_bytes()).unwrap();
}

async fn line(world: &World) -> Value {
    let mut output = world.output.try_clone().unwrap();
    let read = tokio::task::spawn_blocking(move || {
        let mut line = Vec::new();
        let mut byte = [0];
        while output.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
            line.push(byte[0]);
        }
        serde_json::from_slice(&line).unwrap()
    });
    timeout(Duration::from_secs(10), read).await.expect("an answer in time").unwrap()
}

const HELLO: &str = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}\n";
const READY: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

fn list(id: u32) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"}}\n")
}

fn empty(id: u32) -> TxJsonRpcMessage<RoleServer> {
    JsonRpcMessage::response(ServerResult::EmptyResult(EmptyResult {}), RequestId::Number(id.into()))
}

async fn greet(world: &mut World) {
    write(world, &(HELLO.to_owned() + READY));
    assert!(world.guard.receive().await.is_some());
    world.guard.send(empty(0)).await.unwrap();
    line(world).await;
}

#[tokio::test]
async fn each_request_is_answered_in_its_own_framing() {
    let mut world = world(CancelReply::Auto);
    greet(&mut world).await;
    let body = list(1);
    write(&mut world, &format!("Content-Length: {}\r\n\r\n{body}{}", body.len(), list(2)));
    for _ in 0..2 {
        assert!(world.guard.receive().await.is_some());
    }
    world.guard.send(empty(2)).await.unwrap();
    assert_eq!(line(&world).await["id"], 2);
    world.guard.send(empty(1)).await.unwrap();
    world.shared.flush(Duration::from_secs(5)).await;
    let mut head = vec![0; 20];
    world.output.read_exact(&mut head).unwrap();
    assert!(head.starts_with(b"Content-Length: "), "{}", String::from_utf8_lossy(&head));
}

#[tokio::test]
async fn a_result_over_its_bound_becomes_a_small_error_and_nothing_of_it_is_written() {
    let mut world = world(CancelReply::Auto);
    greet(&mut world).await;
    write(&mut world, &list(1));
    assert!(world.guard.receive().await.is_some());
    let error = ErrorData::internal_error("x".repeat(MAX_ANSWER), None);
    world.guard.send(JsonRpcMessage::error(error, Some(RequestId::Number(1)))).await.unwrap();
    let answer = line(&world).await;
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["data"]["kind"]),
        (&json!(-32001), &json!("result_too_large"))
    );
}

// contract: 9.9
#[tokio::test]
async fn at_the_end_of_input_what_was_accepted_is_waited_for() {
    let mut world = world(CancelReply::Auto);
    greet(&mut world).await;
    write(&mut world, &list(1));
    assert!(world.guard.receive().await.is_some());
    let World { mut guard, input, output, .. } = world;
    drop(input);
    let mut ending = tokio::spawn(async move {
        assert!(guard.receive().await.is_none());
        guard
    });
    assert!(timeout(Duration::from_millis(100), &mut ending).await.is_err(), "the request is open");
    ending.abort();
    drop(output);
}

#[tokio::test]
async fn a_reader_that_went_away_ends_the_connection() {
    let mut world = world(CancelReply::Auto);
    greet(&mut world).await;
    let World { mut guard, shared, mut input, output } = world;
    drop(output);
    input.write_all(b"nonsense\n").unwrap();
    assert!(timeout(Duration::from_secs(10), guard.receive()).await.unwrap().is_none());
    assert!(shared.is_broken());
}

#[tokio::test]
async fn while_nobody_reads_nothing_piles_up() {
    // Nothing is ever written: the first answer is on its way for ever.
    struct Stuck(std::sync::mpsc::Receiver<()>);
    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (hold, held) = std::sync::mpsc::channel();
    let flood = Cursor::new("nonsense\n".repeat(100_000).into_bytes());
    let (mut guard, shared) =
        Guard::start(flood, Stuck(held), Limits::default(), CancelReply::Auto, never).unwrap();
    assert!(timeout(Duration::from_millis(200), guard.receive()).await.is_err());
    assert_eq!(shared.out.capacity(), 0);
    assert!(guard.owed.len() <= 1, "{} answers are owed", guard.owed.len());
    drop(hold);
}

#[tokio::test(start_paused = true)]
async fn a_frame_that_does_not_end_is_given_up_and_an_idle_client_is_not() {
    let (read, mut input) = pipe().unwrap();
    let (send, written) = std::sync::mpsc::channel();
    struct Sent(std::sync::mpsc::Sender<Vec<u8>>);
    impl Write for Sent {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.send(bytes.to_vec());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (mut guard, shared) =
        Guard::start(read, Sent(send), Limits::default(), CancelReply::Auto, never).unwrap();
    // The clock stands still until everything waits, and then goes to the next deadline.
    assert!(timeout(FRAME * 100, guard.receive()).await.is_err());
    input.write_all(b"{\"json").unwrap();
    while guard.deadline.is_none() {
        let _ = timeout(Duration::from_millis(1), guard.receive()).await;
    }
    let _ = timeout(FRAME * 2, guard.receive()).await;
    tokio::time::resume();
    shared.flush(Duration::from_secs(5)).await;
    let said = written.try_recv().unwrap();
    assert!(String::from_utf8_lossy(&said).contains("-32600"), "{}", String::from_utf8_lossy(&said));
}
