import type { Failure } from '../../../../src/kubernetes/reflector/failure.ts';
import type {
  ListerWatcher,
  ListPage,
  ListRequest,
  WatchRequest,
  WatchSink,
} from '../../../../src/kubernetes/reflector/lister-watcher.ts';

/** A watch as the script holds it: feed the sink, then end it. */
export interface ScriptedWatch {
  readonly request: WatchRequest;
  readonly sink: WatchSink;
  readonly signal: AbortSignal;
  end(failure: Failure): void;
}

/** A source whose every answer is written in the test. What has no answer hangs until it is aborted. */
export class ScriptedSource implements ListerWatcher {
  readonly lists: ListRequest[] = [];
  readonly watches: ScriptedWatch[] = [];
  readonly #answers: (ListPage | Failure)[] = [];

  /** The next lists are answered so, in this order. */
  answerLists(...answers: (ListPage | Failure)[]): void {
    this.#answers.push(...answers);
  }

  get lastWatch(): ScriptedWatch {
    const watch = this.watches.at(-1);
    if (!watch) throw new Error('nothing was watched yet');
    return watch;
  }

  list(request: ListRequest, progress: () => void, signal: AbortSignal): Promise<ListPage | Failure> {
    this.lists.push(request);
    const answer = this.#answers.shift();
    if (!answer) return aborted(signal);
    progress();
    return Promise.resolve(answer);
  }

  watch(request: WatchRequest, sink: WatchSink, signal: AbortSignal): Promise<Failure> {
    return new Promise((resolve) => {
      this.watches.push({ request, sink, signal, end: resolve });
      aborted(signal).then(resolve, resolve);
    });
  }
}

const aborted = (signal: AbortSignal): Promise<Failure> =>
  new Promise((resolve) => {
    const end = (): void => resolve({ kind: 'aborted' });
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });

export const page = (items: readonly object[], resourceVersion: string, continueToken = ''): ListPage => ({
  kind: 'page',
  resourceVersion,
  continueToken,
  items,
});
