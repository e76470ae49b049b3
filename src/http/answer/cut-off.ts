import type { ServerResponse } from 'node:http';

/**
 * Ends the connection in the middle of an answer, so that the client cannot take the part for the whole. In HTTP/1.0 the end of the
 * connection also ends the body (RFC 1945 7.2.2), so only a reset shows the cut. With TLS the missing close_notify shows it, too.
 */
export function cutOff(response: ServerResponse): void {
  const { req, socket } = response;
  if (req.httpVersion === '1.0' && socket && !('encrypted' in socket)) socket.resetAndDestroy();
  else response.destroy();
}
