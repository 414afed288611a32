#!/usr/bin/env node
// Runs a command on one of several machines, through the node beside it: bullring-attach(7).
//
//     node leader.mjs DATA-DIR COMMAND [ARG...]
//
// The command has the fencing token in BULLRING_EPOCH. When the leadership is lost it gets SIGTERM, and
// SIGKILL when half of the time that is left is over. Needs setpriv, of util-linux.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lead, Lost } from './attach.mjs';

const [dataDir, ...words] = process.argv.slice(2);
const quit = new AbortController();
for (const name of ['SIGTERM', 'SIGINT']) process.once(name, () => quit.abort(new Error(name)));

async function run({ epoch, signal }) {
  // If this process is killed, so is the command.
  const command = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...words], {
    detached: true, // a group of its own
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, BULLRING_EPOCH: epoch },
  });
  const kill = (name) => {
    try {
      process.kill(-command.pid, name);
    } catch {
      // It has ended.
    }
  };
  let late;
  const end = () => {
    kill('SIGTERM');
    const { withinMs = 10_000 } = signal.reason;
    late = setTimeout(kill, withinMs / 2, 'SIGKILL');
  };
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  const [status] = await once(command, 'exit');
  clearTimeout(late);
  kill('SIGKILL'); // what it has left behind
  signal.throwIfAborted();
  return status;
}

for (;;) {
  try {
    process.exitCode = await lead(dataDir, run, quit.signal);
    break;
  } catch (error) {
    if (error instanceof Lost) continue;
    if (error === quit.signal.reason) break;
    console.error(`leader.mjs: ${error.message}`);
    process.exit(1);
  }
}
