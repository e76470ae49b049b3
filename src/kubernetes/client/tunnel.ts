import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

export interface TunnelOptions {
  /** `http://[user:password@]host[:port]` */
  readonly proxy: URL;
  readonly timeoutMs: number;
  readonly keepAliveProbeMs: number;
  /** Makes the TLS connection inside the tunnel. */
  readonly connectTls: buildConnector.connector;
}

/**
 * Connects undici through a proxy: with `CONNECT` (RFC 9110 9.3.6), even to a server without TLS, and then with TLS to
 * the server itself, so that the proxy sees only its name and port.
 */
export function createTunnelConnector(options: TunnelOptions): buildConnector.connector {
  return (asked, callback) => {
    const connect = openTunnel(options, authority(asked));
    let settled = false;
    const fail = (error: Error): void => {
      if (!settled) callback(error, null);
      settled = true;
    };
    connect.once('error', (cause) =>
      fail(new Error(`the proxy ${options.proxy.host} gives no tunnel: ${cause.message}`, { cause })),
    );
    connect.once('timeout', () => connect.destroy(new Error('it does not answer')));
    connect.once('connect', ({ statusCode = 0 }: IncomingMessage, socket: Socket, early: Buffer) => {
      settled = true;
      socket.setTimeout(0);
      socket.setKeepAlive(true, options.keepAliveProbeMs);
      if (statusCode >= 200 && statusCode <= 299) {
        // In none of our protocols does the server speak first, so no bytes should have come yet. If some did, TLS
        // would fail without them.
        if (early.length > 0) socket.unshift(early);
        if (asked.protocol === 'https:') options.connectTls({ ...asked, httpSocket: socket }, callback);
        else callback(null, socket);
        return;
      }
      socket.destroy();
      callback(new Error(`the proxy ${options.proxy.host} gives no tunnel: it answers ${statusCode}`), null);
    });
    connect.end();
  };
}

/** An IPv6 address comes to us without its brackets. */
function authority({ hostname, port, protocol }: buildConnector.Options): string {
  const host = hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname;
  return `${host}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

function openTunnel({ proxy, timeoutMs }: TunnelOptions, path: string): ClientRequest {
  const { hostname, port, username, password } = proxy;
  const secret = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const credential =
    username === '' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(secret).toString('base64')}` };
  return request({
    method: 'CONNECT',
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port || 80,
    path,
    headers: { host: path, ...credential },
    agent: false,
    timeout: timeoutMs,
  });
}
