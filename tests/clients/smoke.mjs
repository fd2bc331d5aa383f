// The official TypeScript SDK against glass --mcp: both generations, every era.
//
// usage: node smoke.mjs GLASS     GLASS: the program, with glassd beside it

import assert from 'node:assert/strict';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';

const command = process.argv[2];
const info = { name: 'smoke', version: '1' };
const parameters = { command, args: ['--mcp', '--tools', 'core,session'], env: process.env, stderr: 'inherit' };
const page = 'data:text/html,<title>T</title><button onclick="document.title=1">Press</button>';

async function walk(name, client, transport, call) {
  const errors = [];
  client.onerror = (error) => errors.push(String(error));
  let closed = false;
  client.onclose = () => { closed = true; };
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.ok(tools.length > 10 && tools.every((tool) => tool.annotations && tool.title), name);
  const bad = await call(client, 'observe', { maxBytes: 'many' });
  assert.equal(bad.isError, true);
  assert.equal(JSON.parse(bad.content[0].text).kind, 'invalid_argument');
  const opened = await call(client, 'navigate', { url: page });
  assert.ok(!opened.isError || JSON.parse(opened.content[0].text).kind, name);
  // Each is held against the schema that its tool lists.
  for (const [tool, args] of [
    ['health', {}],
    ['listSessions', {}],
    ['executionStatus', { executionId: opened.structuredContent.executionId }],
  ]) {
    assert.ok(tools.find((one) => one.name === tool).outputSchema, `${name} ${tool}`);
    const answered = await call(client, tool, args);
    assert.ok(!answered.isError && answered.structuredContent, `${name} ${tool}: ${JSON.stringify(answered)}`);
  }
  // Giving up must not cost the connection.
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 300);
  await assert.rejects(call(client, 'wait', { condition: 'text=never', timeoutMs: 20000 }, stop.signal));
  const listed = await call(client, 'listTargets', {});
  assert.ok(Array.isArray(listed.content), name);
  assert.equal(closed, false, `${name} was closed: ${errors}`);
  await client.close();
  console.log(`typescript ${name}: ${tools.length} tools`);
}

const v1 = (client, tool, args, signal) => client.callTool({ name: tool, arguments: args }, undefined, { signal });
const v2 = (client, tool, args, signal) => client.callTool({ name: tool, arguments: args }, { signal });

await walk('v1', new ClientV1(info, { capabilities: {} }), new StdioV1(parameters), v1);
for (const mode of ['legacy', 'auto', { pin: '2026-07-28' }]) {
  const client = new ClientV2(info, { capabilities: {}, versionNegotiation: { mode } });
  await walk(`v2 ${typeof mode === 'string' ? mode : mode.pin}`, client, new StdioV2(parameters), v2);
}
