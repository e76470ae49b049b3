import type { Gateway } from '../../../gateway/gateway.ts';
import { CallerReads, ClusterAnswers, type RefusedRead } from '../../../gateway/workload-logs/caller-reads.ts';
import { parseLogRequest } from '../../../gateway/workload-logs/log-request.ts';
import { LogSeats } from '../../../gateway/workload-logs/log-seats.ts';
import { byChoice, MOST_SHOWN } from '../../../gateway/workload-logs/shown-pods.ts';
import { toWorkloadName, type WorkloadName } from '../../../gateway/workload-logs/workload.ts';
import {
  readWorkload,
  WorkloadLogs,
  type WorkloadLogsParts,
  type WorkloadStart,
} from '../../../gateway/workload-logs/workload-logs.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Random } from '../../../runtime/random.ts';
import type { AnswerWriter } from '../../answer/answer.ts';
import type { Impersonate } from '../../chain/impersonation.ts';
import type { Exchange, Handler, Outcome, Route, Step } from '../../exchange.ts';
import type { CallQueue } from '../../limits/call-queue.ts';
import type { UserSeats } from '../../limits/user-seats.ts';
import type { CallerSteps, Recheck } from '../../watch/recheck.ts';
import { ActiveCall } from '../active-call.ts';
import { callOf, endedEarly, takeImpersonation } from '../asked-call.ts';
import type { CallRecord } from '../call-record.ts';
import type { OpenStreams } from '../open-streams.ts';
import { Relay } from '../relay.ts';
import type { LogRights } from './log-rights.ts';
import { LogStream } from './log-stream.ts';

export interface ServeLogsParts {
  readonly gateway: Gateway;
  readonly impersonate: Impersonate;
  readonly rights: LogRights;
  readonly seats: { readonly streams: UserSeats };
  readonly streams: OpenStreams;
  readonly queue: CallQueue;
  readonly writer: AnswerWriter;
  readonly clock: Clock;
  readonly random: Random;
  readonly platform: string;
  /** A client that does not read the end of a stream for this long is cut off. */
  readonly sendTimeoutMs: number;
  readonly record: CallRecord;
  /** Makes the rechecks of a stream: `authorize` checks the rights that it needs. */
  recheckBy(authorize: CallerSteps['authorize']): (exchange: Exchange) => Recheck;
}

/** The logs of all pods of a workload in one stream. */
export function workloadLogRoute(parts: ServeLogsParts): Route {
  return {
    template: `/kapis/resources.${parts.platform}.io/v1alpha3/namespaces/{namespace}/{resource}/{name}/log`,
    access: 'signed-in',
    admission: 'gateway',
    produces: 'any',
    methods: { GET: serveLogs(parts) },
  };
}

function serveLogs(parts: ServeLogsParts): Handler {
  const places = new LogSeats();
  return async (exchange) => {
    const { info, identity } = exchange.signedIn;
    exchange.atEnd(() => parts.record.ended(exchange, 'log'));
    const [namespace = '', resource = '', object = ''] = exchange.parameters;
    const name = toWorkloadName(namespace, resource, object);
    // For the audit trail, the call is about the cluster's own object.
    exchange.asks({ ...info, prefix: name.kind.group === '' ? 'api' : 'apis', ...groupOf(name) });
    const request = parseLogRequest(exchange.target.query);
    if (parts.gateway.honoursImpersonation) await takeImpersonation(exchange, parts);
    exchange.atEnd(parts.seats.streams.take(identity.name));
    const seats = places.ofStream(identity.name);
    await new ServedLogStream(exchange, parts, { name, request, seats }).serve();
  };
}

const groupOf = ({ kind: { group, version } }: WorkloadName): { readonly group: string; readonly version: string } => ({
  group,
  version,
});

type Wanted = Pick<WorkloadLogsParts, 'name' | 'request' | 'seats'>;

/** One stream, from its first read of the cluster to its end. */
class ServedLogStream {
  readonly #exchange: Exchange;
  readonly #parts: ServeLogsParts;
  readonly #wanted: Wanted;
  readonly #call: ActiveCall;
  #logs: WorkloadLogs | undefined;
  #start: WorkloadStart | undefined;
  #stream: LogStream | undefined;

  constructor(exchange: Exchange, parts: ServeLogsParts, wanted: Wanted) {
    this.#exchange = exchange;
    this.#parts = parts;
    this.#wanted = wanted;
    this.#call = new ActiveCall(exchange);
  }

  async serve(): Promise<void> {
    const { streams, queue, recheckBy, platform } = this.#parts;
    const exchange = this.#exchange;
    const judge = recheckBy(this.#authorize)(exchange);
    streams.opened(exchange, { kind: 'log', isUpgrade: false, end: this.#call.end }, judge);
    const queued = queue.take(exchange.signedIn.identity.name);
    exchange.atEnd(queued.leave);
    if (queued.begins !== undefined) await queued.begins;
    try {
      await this.#follow(queued.leave);
    } catch (error) {
      const { ended } = this.#call;
      if (exchange.response.destroyed) return; // a client that has gone gets no answer
      if (!ended) throw error;
      exchange.reason = ended;
      if (!this.#stream) throw endedEarly(ended, platform);
      this.#stream.end(ended);
    }
  }

  /** Reads the object, its pods and the caller's rights, then makes the stream. `onBegun`: a stream costs little once it has begun. */
  async #follow(onBegun: () => void): Promise<void> {
    const { gateway, clock, random, rights, record } = this.#parts;
    const exchange = this.#exchange;
    const { signal } = this.#call;
    const call = callOf(exchange, 'log', record);
    await gateway.admitted(call, signal);
    call.onSend?.();
    const answers = new ClusterAnswers();
    const sentAt = clock.monotonic();
    const onAnswered = (hasAnswered: boolean): void => {
      if (hasAnswered) exchange.upstreamMs ??= clock.monotonic() - sentAt;
      answers.answered(hasAnswered);
    };
    const reads = new CallerReads({ gateway, call, onAnswered });
    const all = { ...this.#wanted, reads, clock, random };
    const start = await readWorkload(all, signal);
    if ('status' in start) return this.#passOn(start);
    const { namespace } = this.#wanted.name;
    const { pods } = start.listed;
    const chosen = pods.toSorted(byChoice).slice(0, MOST_SHOWN);
    await rights.refusedOf(
      exchange,
      namespace,
      chosen.map(({ name }) => name),
    );
    if (exchange.response.destroyed) return;
    this.#start = start;
    const stream = this.#begin();
    onBegun();
    answers.begin(stream);
    const logs = new WorkloadLogs(start, stream, all);
    this.#logs = logs;
    const reason = await logs.run(signal);
    exchange.reason = reason;
    stream.end(reason);
  }

  #begin(): LogStream {
    const { writer, clock, sendTimeoutMs, gateway } = this.#parts;
    const onBytes = (bytes: number): void => gateway.metrics.received(bytes);
    this.#stream = new LogStream(this.#exchange, { writer, clock, sendTimeoutMs, onBytes });
    return this.#stream;
  }

  /** Answers as the cluster has answered one of the first reads. */
  #passOn({ status, headers, body }: RefusedRead): void {
    const { writer, gateway } = this.#parts;
    const relay = new Relay(this.#exchange, this.#call.abort, {
      writer,
      isStream: false,
      onStart: () => undefined,
      onBytes: (bytes) => gateway.metrics.received(bytes),
    });
    // The length is not that of a body that was cut.
    const kept = headers.filter((_, at) => headers[at - (at % 2)]?.toLowerCase() !== 'content-length');
    relay.start(status, kept);
    void relay.data(body);
    relay.end();
  }

  /** Checks the caller's rights again. Pods whose logs the caller may no longer read leave the stream. */
  readonly #authorize: Step = async (exchange): Promise<Outcome> => {
    const { impersonate, rights } = this.#parts;
    const { impersonation } = exchange;
    if (impersonation) await impersonate(exchange, impersonation.asked);
    const { namespace } = this.#wanted.name;
    if (!this.#start || !this.#logs) return 'next';
    if (this.#wanted.request.follow) {
      const { selection } = this.#start.workload;
      await rights.checkWatch(exchange, { namespace, selection });
    }
    const open = this.#logs.shown.filter(({ isOpen }) => isOpen);
    if (open.length === 0) return 'next';
    const refused = await rights.refusedOf(exchange, namespace, [...new Set(open.map(({ name }) => name))]);
    for (const pod of open) if (refused.has(pod.name)) pod.refuse('the right to this has ended');
    return 'next';
  };
}
