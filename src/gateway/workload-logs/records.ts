/** What happens to a pod or to one of its containers. */
export type PodEvent =
  /** Its lines follow from now on. */
  | 'joined'
  /** It is gone, and all that could be read of its log has been sent. */
  | 'left'
  /** A container was started again. Its earlier instance has been read to its end. */
  | 'restarted'
  /** A log cannot be read at the moment, for the reason in `message`. It is tried again. */
  | 'waiting'
  /** A log is not read, for the reason in `message`. */
  | 'refused';

/** Why the stream has ended. */
export type LogsEnd =
  /** All was read, and nothing more will come. */
  | 'finished'
  /** The object is gone. */
  | 'gone'
  /** The session of the caller has ended. */
  | 'revoked'
  /** The caller has lost the right to it. */
  | 'forbidden'
  /** The server is stopping. */
  | 'closing';

/** A line of the stream (docs/contract/gateway.md, section 13). */
export type StreamedRecord =
  | {
      readonly type: 'line';
      readonly pod: string;
      readonly container: string;
      /** RFC 3339 with nanoseconds, as the node has written it. */
      readonly time: string;
      readonly text: string;
      /** The number of bytes that were left out at the end of `text`. Absent: none. */
      readonly leftOut?: number;
    }
  | {
      readonly type: 'pod';
      readonly event: PodEvent;
      readonly pod: string;
      /** Absent: the whole pod. */
      readonly container?: string;
      readonly message: string;
    }
  /** The workload has more pods than are shown. Sent again when the numbers change. */
  | { readonly type: 'more'; readonly shown: number; readonly pods: number; readonly message: string }
  /** The cluster does not answer, or does again. Nothing is lost by that. */
  | { readonly type: 'cluster'; readonly event: 'away' | 'back'; readonly message: string }
  /** Nothing else was sent for 45 s. */
  | { readonly type: 'idle' }
  | { readonly type: 'end'; readonly reason: LogsEnd; readonly message: string };

/** A record as its line. JSON escapes every control character, so no text of a log can end a line. */
export const toLine = (record: StreamedRecord): string => `${JSON.stringify(record)}\n`;

/** Receives the stream, whole lines at a time. */
export interface LogOut {
  /** Nothing more is to be read of the cluster until a returned promise has resolved. */
  write(lines: string): Promise<void> | undefined;
}
