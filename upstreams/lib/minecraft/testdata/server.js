// Starts a real protocol server on a free port of 127.0.0.1 and prints the
// port: node server.js NODE_MODULES VERSION. It ends with its standard input.
const path = require('path');

const [folder, version] = process.argv.slice(2);
const mc = require(path.resolve(folder, 'minecraft-protocol'));
const server = mc.createServer({
  host: '127.0.0.1', port: 0, version, 'online-mode': false, maxPlayers: 42, motd: '\u00a7aWelcome \u00a7l中文',
  favicon: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  beforePing: (response) => {
    response.players.online = 7;
    response.players.sample = [{ name: 'Somebody', id: '4566e69f-c907-48ee-8d71-d7ba5aa00d20' }];
  },
});
server.on('error', (err) => { console.error(err); process.exit(1); });
server.on('listening', () => console.log(server.socketServer.address().port));
process.stdin.on('end', () => process.exit(0)).resume();
