import type { Dispatcher } from 'undici';

/** A request as the script holds it: answer it, or break it off. */
export interface ScriptedRequest {
  readonly options: Dispatcher.DispatchOptions;
  /** It has got its connection. */
  start(): void;
  /** Status and headers. */
  respond(status: number, headers?: Record<string, string>): void;
  data(text: string): void;
  end(): void;
  fail(error: Error): void;
  /** What was done to it from our side, in order. */
  readonly done: string[];
}

/** What undici's agent is to an exchange, without a socket. */
export class ScriptedDispatcher {
  readonly requests: ScriptedRequest[] = [];
  /** Called with each request as it comes. */
  onRequest: (request: ScriptedRequest) => void = () => undefined;

  get last(): ScriptedRequest {
    const request = this.requests.at(-1);
    if (!request) throw new Error('nothing was asked for yet');
    return request;
  }

  get dispatcher(): Dispatcher {
    return this as unknown as Dispatcher;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const done: string[] = [];
    const controller = {
      abort: (reason: Error) => void done.push(`abort: ${reason.message}`),
      pause: () => void done.push('pause'),
      resume: () => void done.push('resume'),
    } as unknown as Dispatcher.DispatchController;
    const request: ScriptedRequest = {
      options,
      start: () => handler.onRequestStart?.(controller, undefined),
      respond: (status, headers = {}) => handler.onResponseStart?.(controller, status, headers),
      data: (text) => handler.onResponseData?.(controller, Buffer.from(text)),
      end: () => handler.onResponseEnd?.(controller, {}),
      fail: (error) => handler.onResponseError?.(controller, error),
      done,
    };
    this.requests.push(request);
    this.onRequest(request);
    return true;
  }
}

/** Answers a request whole. */
export function answer(
  request: ScriptedRequest,
  status: number,
  body = '',
  headers: Record<string, string> = {},
): void {
  request.start();
  request.respond(status, headers);
  if (body !== '') request.data(body);
  request.end();
}
