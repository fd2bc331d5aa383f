// The official conformance suite against glass --mcp, through mount.mjs: everything that each revision requires.
//
// usage: node conformance.mjs GLASS TOOLS     GLASS: the program; TOOLS: where the suite is installed
//
// conformance-REVISION.yml lists what does not apply, with the reason. A failure that it does not name and a pass that it
// does name are both errors.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [glass, tools] = process.argv.slice(2);
const here = import.meta.dirname;
const suite = join(tools, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const results = mkdtempSync(join(process.env.HOME ?? tmpdir(), 'conformance-'));

const mount = spawn(process.execPath, [join(here, 'mount.mjs'), glass], { stdio: ['pipe', 'pipe', 'inherit'] });
const port = await new Promise((done) => createInterface({ input: mount.stdout }).once('line', done));
let failed = false;
for (const revision of ['2025-11-25', '2026-07-28']) {
  const options = ['server', '--url', `http://127.0.0.1:${port}/mcp`, '--requirements', revision, '--timeout', '20000'];
  const baseline = ['--expected-failures', join(here, `conformance-${revision}.yml`), '-o', join(results, revision)];
  const run = spawnSync(process.execPath, [suite, ...options, ...baseline], { encoding: 'utf8' });
  if (run.status !== 0) {
    failed = true;
    console.log(run.stdout, run.stderr);
  }
  const total = run.stdout.match(/^Total: .*$/m)?.[0] ?? 'no total';
  console.log(`conformance ${revision}: ${total}, ${run.status === 0 ? 'all of them expected' : 'NOT as expected'}`);
}
mount.stdin.end();
process.exitCode = failed ? 1 : 0;
