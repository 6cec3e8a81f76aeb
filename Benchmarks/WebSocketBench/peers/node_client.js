// `ws` of node (Debian node-ws): NODE_PATH=/usr/share/nodejs node node_client.js PORT SIZE INFLIGHT COUNT
// What is measured is told in report.h.
'use strict';

const WebSocket = require('ws');

const [port, size, inflight, count] = process.argv.slice(2).map(Number);
if (!(count > 0)) {
  console.error('usage: node_client.js PORT SIZE INFLIGHT COUNT');
  process.exit(2);
}
const payload = Buffer.alloc(size, 'a');
const socket = new WebSocket(`ws://127.0.0.1:${port}/`, {
  perMessageDeflate: false,
  maxPayload: 64 << 20,
});
let sent = 0;
let received = 0;
let began;
let processorBegan;

function send() {
  socket.send(payload);
  sent += 1;
}

function report() {
  const wall = Number(process.hrtime.bigint() - began) / 1e9;
  const { user, system } = process.cpuUsage(processorBegan);
  const rate = count / wall;
  console.log(
    `node-ws size=${size} win=${inflight} n=${count} rt/s=${rate.toFixed(0)} ` +
      `MB/s=${((rate * size) / 1e6).toFixed(1)} us_cpu/msg=${((user + system) / count).toFixed(2)}`
  );
}

socket.on('open', () => {
  processorBegan = process.cpuUsage();
  began = process.hrtime.bigint();
  while (sent < Math.min(inflight, count)) send();
});

socket.on('message', (message) => {
  if (message.length !== size) throw new Error(`${message.length} bytes instead of ${size}`);
  received += 1;
  if (received === count) {
    report();
    socket.terminate();
    return;
  }
  if (sent < count) send();
});

socket.on('close', () => {
  if (received < count) throw new Error('the server has closed');
});
