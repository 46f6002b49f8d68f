import { WebSocket } from 'ws';

// The floor of an acknowledgement over Socket Mode: a bare WebSocket that answers each envelope with its id.
const opened = await fetch(`${process.env['SLACK_API_URL']}apps.connections.open`, { method: 'POST' });
const { url } = (await opened.json()) as { url: string };
const socket = new WebSocket(url, { perMessageDeflate: false });
socket.on('message', (data: Buffer) => {
  const frame = JSON.parse(data.toString()) as { type: string; envelope_id?: string };
  if (frame.type === 'hello') process.stdout.write(`${JSON.stringify({ msg: 'ready' })}\n`);
  else if (frame.envelope_id) socket.send(JSON.stringify({ envelope_id: frame.envelope_id, payload: {} }));
});
process.once('SIGTERM', () => process.exit(0));
