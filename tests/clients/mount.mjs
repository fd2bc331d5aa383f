// glass --mcp behind HTTP, for tools that cannot speak stdio. For tests alone: it has no authorization.
//
// usage: node mount.mjs GLASS     GLASS: the program, with glassd beside it; prints its port, ends with its input
//
// Each handshake gets a process of its own, known by Mcp-Session-Id; requests without one share a process. Messages pass
// as they are, but for the names of what the conformance suite asks its own fixtures for: these stand for tools, resources
// and prompts of Glass that give results of the same shape (NAMES). No result is touched.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const glass = process.argv[2];
const REVISION = 'io.modelcontextprotocol/protocolVersion';
const PAGE = '<!doctype html><title>A page</title><h1>Hello</h1><button>Press</button>';

// The suite's fixture: what stands for it.
const TOOLS = {
  test_simple_text: ['getText', {}],
  test_image_content: ['screenshot', {}],
  test_error_handling: ['click', { target: 'There is no such thing' }],
  test_tool_with_progress: ['wait', { condition: 'text=never there', timeoutMs: 4500 }],
};
const PROMPTS = {
  test_simple_prompt: ['fill-in-form', () => ({ values: 'Name: Ann' })],
  test_prompt_with_arguments: ['do-task', (given) => ({ url: given.arg1, task: given.arg2 })],
};
const RESOURCES = { 'test://static-text': /observation$/, 'test://static-binary': /screenshot/ };

class Process {
  constructor() {
    this.child = spawn(glass, ['--mcp'], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.waiting = new Map();
    this.primed = undefined;
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      const token = message.params?.progressToken;
      const found = [...this.waiting.values()].find((one) => one.id === message.id || (token !== undefined && one.token === token));
      found?.heard(message);
    });
    this.child.on('exit', () => {
      for (const one of this.waiting.values()) one.gone(new Error('glass has ended'));
    });
  }

  send(message) {
    this.child.stdin.write(JSON.stringify(message) + '\n');
  }

  // Asks, and gives the answer; `note` hears what comes before it.
  ask(message, note = () => {}) {
    const key = Symbol('request');
    return new Promise((done, gone) => {
      const heard = (said) => (said.id === message.id ? done(said) : note(said));
      this.waiting.set(key, { id: message.id, token: message.params?._meta?.progressToken, heard, gone });
      this.send(message);
    }).finally(() => this.waiting.delete(key));
  }

  // A page with an observation and a picture of it, once.
  prime(like, url) {
    const call = async (name, args) => {
      const _meta = like.params?._meta?.[REVISION] ? { ...like.params._meta, progressToken: undefined } : undefined;
      const params = { name, arguments: args, _meta };
      const { result } = await this.ask({ jsonrpc: '2.0', id: `mount-${name}`, method: 'tools/call', params });
      if (!result || result.isError) throw new Error(`${name}: ${JSON.stringify(result)}`);
    };
    this.primed ??= (async () => {
      await call('navigate', { url });
      await call('observe', {});
      await call('screenshot', {});
      const params = { _meta: like.params?._meta };
      const listed = await this.ask({ jsonrpc: '2.0', id: 'mount-list', method: 'resources/list', params });
      this.resources = listed.result.resources.map((one) => one.uri);
    })();
    return this.primed;
  }

  end() {
    this.child.stdin.end();
  }
}

async function translated(server, message, url) {
  const { name, uri, arguments: given } = message.params ?? {};
  const params = { ...message.params };
  if (message.method === 'tools/call' && TOOLS[name]) {
    await server.prime(message, url);
    [params.name, params.arguments] = TOOLS[name];
  } else if (message.method === 'prompts/get' && PROMPTS[name]) {
    params.name = PROMPTS[name][0];
    params.arguments = PROMPTS[name][1](given ?? {});
  } else if (message.method === 'resources/read' && RESOURCES[uri]) {
    await server.prime(message, url);
    params.uri = server.resources.find((one) => RESOURCES[uri].test(one));
  } else if (message.method === 'resources/list') {
    await server.prime(message, url);
    return message;
  } else {
    return message;
  }
  return { ...message, params };
}

const sessions = new Map();
let shared;

const http = createServer(async (request, response) => {
  const plain = (status, value, headers = {}) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(value === undefined ? '' : JSON.stringify(value));
  };
  const port = http.address().port;
  const own = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (!own.includes(request.headers.host) || (request.headers.origin && !own.includes(new URL(request.headers.origin).host))) {
    return plain(403);
  }
  if (request.url === '/page') {
    response.writeHead(200, { 'Content-Type': 'text/html' });
    return response.end(PAGE);
  }
  const session = request.headers['mcp-session-id'];
  if (session && !sessions.has(session)) return plain(404);
  if (request.method === 'DELETE' && session) {
    sessions.get(session).end();
    sessions.delete(session);
    return plain(204);
  }
  if (request.method !== 'POST') return plain(405);
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  let message;
  try {
    message = JSON.parse(Buffer.concat(pieces));
  } catch {
    return plain(400, { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'no JSON' } });
  }
  let server;
  const headers = {};
  if (session) {
    server = sessions.get(session);
  } else if (message.method === 'initialize' && !message.params?._meta?.[REVISION]) {
    server = new Process();
    headers['Mcp-Session-Id'] = randomUUID();
    sessions.set(headers['Mcp-Session-Id'], server);
  } else {
    server = shared ??= new Process();
  }
  if (message.id === undefined) {
    server.send(message);
    return plain(202, undefined, headers);
  }
  try {
    const notes = [];
    // Ids of clients that share a process may be the same.
    const asked = await translated(server, session || headers['Mcp-Session-Id'] ? message : { ...message, id: randomUUID() }, `http://127.0.0.1:${port}/page`);
    const answer = await server.ask(asked, (note) => notes.push(note));
    answer.id = message.id;
    const code = answer.error?.code;
    // As the specification has it for HTTP.
    const modern = !session && !headers['Mcp-Session-Id'];
    const status = !modern || code === undefined ? 200 : code === -32601 ? 404 : [-32602, -32022, -32021, -32600].includes(code) ? 400 : 200;
    if (notes.length === 0) return plain(status, answer, headers);
    response.writeHead(200, { 'Content-Type': 'text/event-stream', ...headers });
    for (const said of [...notes, answer]) response.write(`event: message\ndata: ${JSON.stringify(said)}\n\n`);
    response.end();
  } catch (error) {
    plain(500, { jsonrpc: '2.0', id: message.id, error: { code: -32603, message: String(error) } });
  }
});

http.listen(0, '127.0.0.1', () => console.log(http.address().port));
process.stdin.resume();
process.stdin.on('end', async () => {
  for (const server of [...sessions.values(), shared].filter(Boolean)) server.end();
  http.close();
  http.closeAllConnections();
});
