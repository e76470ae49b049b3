/** The way that bytes go. */
export type Direction = 'toServer' | 'toClient';

/** What is wrong with a connection; what is left out is as it should be. */
export interface Fault {
  /** `reset`: RST as soon as it is made; `silence`: it is taken, the server is not called, and nothing is ever said. */
  readonly accept?: 'reset' | 'silence';
  /** Every byte arrives so much later, in both directions. */
  readonly delayMs?: number;
  /** At most so many in each direction. */
  readonly bytesPerSecond?: number;
  /** Exactly so many bytes reach the client, counted from the start of the connection, and then it ends like this. */
  readonly cut?: { readonly atByte: number; readonly ending: 'close' | 'reset' | 'silence' };
  /** Bytes of this direction, and its end, are held back for as long as the fault lasts; the sender's are acknowledged. */
  readonly hold?: Direction | 'both';
  /** Neither side learns that the other one has ended or reset its connection. */
  readonly swallowFin?: boolean;
}
