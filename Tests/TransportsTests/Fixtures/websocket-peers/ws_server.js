// A server of node's `ws` (Debian node-ws); what it does is told in README.md.
'use strict';

// Where Debian keeps it; a node that is not Debian's does not look there.
module.paths.push('/usr/share/nodejs');
const { WebSocketServer } = require('ws');

const server = new WebSocketServer({
  host: '127.0.0.1',
  port: 0,
  perMessageDeflate: true,
  maxPayload: 64 << 20,
});

server.on('listening', () => console.log('port', server.address().port));

server.on('connection', (socket) => {
  socket.on('message', (data, isBinary) => {
    const text = isBinary ? '' : data.toString();
    const [command, ...words] = text.startsWith('!') ? text.split(' ') : [];
    if (command === '!close') {
      socket.close(Number(words[0]), words.slice(1).join(' '));
    } else if (command === '!ping') {
      socket.ping(words.join(' '));
    } else {
      socket.send(data, { binary: isBinary });
    }
  });
  socket.on('pong', (data) => socket.send(`pong ${data}`));
  socket.on('error', (error) => console.log('error', error.message));
  socket.on('close', (code, reason) => console.log('closed', code, reason.toString()));
});
