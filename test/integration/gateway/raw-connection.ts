import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Less than the time of a test, so that what came is told; many times what the slowest answer takes on a busy machine. */
const LIMIT_MS = 100_000;

/** A connection of a test: what was read from it is kept, and may be waited for. */
export class RawConnection {
  readonly socket: Socket;
  readonly pieces: Buffer[] = [];
  readonly #came = new EventTarget();
  isEnded = false;
  isClosed = false;
  /** The code with which it broke off; `undefined` after an orderly end. */
  fault: string | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (piece: Buffer) => {
      this.pieces.push(piece);
      this.#tell();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.fault = error.code;
    });
    socket.on('end', () => {
      this.isEnded = true;
      this.#tell();
    });
    socket.on('close', () => {
      this.isClosed = true;
      this.#tell();
    });
  }

  static async open(port: number, text = ''): Promise<RawConnection> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const connection = new RawConnection(socket);
    await once(socket, 'connect');
    if (text) socket.write(text, 'latin1');
    return connection;
  }

  /** All that came, each byte a character. */
  get text(): string {
    return Buffer.concat(this.pieces).toString('latin1');
  }

  /** Resolves with all that came as soon as it holds what is looked for; rejects after 100 s, for what hangs. */
  async until(holds: RegExp | ((connection: RawConnection) => boolean)): Promise<string> {
    const isThere = () => (holds instanceof RegExp ? holds.test(this.text) : holds(this));
    const limit = AbortSignal.timeout(LIMIT_MS);
    while (!isThere()) {
      const came = new Promise((resolve) => this.#came.addEventListener('came', resolve, { once: true }));
      const late = new Promise((_, reject) =>
        limit.addEventListener('abort', () => reject(new Error(`not in: ${this.text.slice(0, 2_000)}`)), {
          once: true,
        }),
      );
      await Promise.race([came, late]);
    }
    return this.text;
  }

  closed(): Promise<string> {
    return this.until(({ isClosed, isEnded }) => isClosed || isEnded);
  }

  #tell(): void {
    this.#came.dispatchEvent(new Event('came'));
  }
}
