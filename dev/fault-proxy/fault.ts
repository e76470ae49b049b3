/** The direction in which bytes go. */
export type Direction = 'toServer' | 'toClient';

/** The faults of a connection. A member that is left out means no such fault. */
export interface Fault {
  /**
   * `reset`: RST as soon as the connection is made. `silence`: the connection is accepted, the server is not called,
   * and no byte is ever sent.
   */
  readonly accept?: 'reset' | 'silence';
  /** The delay of every byte, in both directions. */
  readonly delayMs?: number;
  /** The limit in each direction. */
  readonly bytesPerSecond?: number;
  /** The connection ends like this when exactly `atByte` bytes have reached the client since it began. */
  readonly cut?: { readonly atByte: number; readonly ending: 'close' | 'reset' | 'silence' };
  /**
   * Holds back the bytes of this direction, and its end, for as long as the fault lasts. The sender's bytes are still
   * acknowledged.
   */
  readonly hold?: Direction | 'both';
  /** Neither side learns that the other one has ended or reset its connection. */
  readonly swallowFin?: boolean;
}
