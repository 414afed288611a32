// Leads through the node on this machine: a client of its attach.sock (bullring-attach(7)) that needs
// nothing but node.js 18.
//
// node.js cannot receive a descriptor over a socket, so there is no page here: nothing can be asked
// whether this process leads at this instant. The task is told of the loss by its signal alone, when
// the node says `stop` or the connection ends. While its own code keeps the event loop busy it learns
// of neither, and a node that stands still says nothing until it is killed. So send the epoch along to
// whatever you write to, and have that refuse a lower one.
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

/** The reason of the task's signal. */
export class Lost extends Error {
  /** @param {number} withinMs how long nobody else can lead, at least */
  constructor(why, withinMs) {
    super(`the leadership was lost: ${why}`);
    this.withinMs = Math.max(withinMs, 0);
  }
}

/** Of CLOCK_BOOTTIME, as all instants of the node are; it may be rounded to 10 ms. */
function msUntil(ns) {
  return ns / 1e6 - os.uptime() * 1e3 - 10;
}

/**
 * Waits until this process leads, and calls `task({epoch, signal})`. The leadership is given up when
 * the promise that it returns is settled, and not before: have it wait for all that the task has
 * started. Settles as that promise; rejects if the node ends before, or `quit`, an AbortSignal, is
 * aborted. That ends the leadership, too, by the task's signal.
 */
export async function lead(dataDir, task, quit) {
  quit?.throwIfAborted();
  const socket = net.connect(path.join(dataDir, 'attach.sock'));
  const lost = new AbortController();
  const over = new AbortController();
  const say = (line) => socket.writable && socket.write(`${JSON.stringify(line)}\n`);
  let leaseMs = 0;
  const leadership = new Promise((resolve, reject) => {
    const end = (error) => {
      reject(error); // once it leads this does nothing
      lost.abort(error);
    };
    const told = {
      elected({ epoch, valid_until_ns: ns }) {
        leaseMs = msUntil(ns);
        resolve({ epoch, signal: lost.signal });
      },
      stop: ({ reason, by_ns: ns }) => lost.abort(new Lost(reason, msUntil(ns))),
      error: ({ error }) => reject(new Error(error)),
    };
    let rest = '';
    socket.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      for (const line of lines.map((one) => JSON.parse(one))) told[line.event]?.(line);
    });
    socket.on('error', reject); // `close` follows
    // At least a quarter of a lease is left then, and the first one was no longer than a whole one.
    socket.on('close', () => end(new Lost('the node has ended', leaseMs / 4)));
    quit?.addEventListener('abort', () => end(quit.reason), { signal: over.signal });
  });
  try {
    say({ op: 'campaign' });
    return await task(await leadership);
  } finally {
    say({ op: 'done' });
    socket.end();
    over.abort();
  }
}
