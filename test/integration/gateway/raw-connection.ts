import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { atEnd } from '../../support/at-end.ts';

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
    atEnd(() => void socket.destroy());
    await once(socket, 'connect');
    if (text) socket.write(text, 'latin1');
    return connection;
  }

  /** All that came, each byte a character. */
  get text(): string {
    return Buffer.concat(this.pieces).toString('latin1');
  }

  /** Resolves with all that came as soon as it holds what is looked for; rejects after 100 s, for what hangs. */
  until(holds: RegExp | ((connection: RawConnection) => boolean)): Promise<string> {
    const isThere = () => (holds instanceof RegExp ? holds.test(this.text) : holds(this));
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(limit);
        this.#came.removeEventListener('came', look);
        settle();
      };
      const look = (): void => {
        try {
          if (isThere()) end(() => resolve(this.text));
        } catch (error) {
          end(() => reject(error));
        }
      };
      const limit = setTimeout(() => end(() => reject(new Error(`not in: ${this.text.slice(0, 2_000)}`))), LIMIT_MS);
      this.#came.addEventListener('came', look);
      look();
    });
  }

  closed(): Promise<string> {
    return this.until(({ isClosed, isEnded }) => isClosed || isEnded);
  }

  #tell(): void {
    this.#came.dispatchEvent(new Event('came'));
  }
}
