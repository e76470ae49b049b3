import { once } from 'node:events';
import type { Socket } from 'node:net';

/** Resolves to the arguments of the next event with this name. Rejects as soon as the connection is closed without it. */
export async function nextEvent(socket: Socket, event: string): Promise<readonly unknown[]> {
  const over = new AbortController();
  const closed = (): void => {
    const { bytesWritten, bytesRead } = socket;
    over.abort(new Error(`closed before "${event}", after ${bytesWritten} bytes out and ${bytesRead} bytes in`));
  };
  socket.once('close', closed);
  if (socket.closed) closed();
  try {
    return await once(socket, event, { signal: over.signal });
  } catch (error) {
    throw over.signal.aborted ? over.signal.reason : error;
  } finally {
    socket.off('close', closed);
  }
}
