import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../conformance/api-client.ts';
import type { ConformanceTarget } from '../conformance/target.ts';
import type { WatchStream } from '../conformance/watch-stream.ts';
import { waitFor } from '../waiting.ts';
import { Answered } from './references.ts';
import { inSharedWords } from './shared-words.ts';
import type { Caller, Course, Json, Outcome, Sequence, Step, Watch } from './steps.ts';
import { LAST } from './watches.ts';

/** The number of sequences that run at the same time. */
const AT_ONCE = 8;

/** Runs the sequences on one server, and resolves to their courses. */
export async function run(
  target: Pick<ConformanceTarget, 'url' | 'token' | 'caFile'>,
  sequences: readonly Sequence[],
): Promise<Course[]> {
  const api = await ApiClient.to(target);
  const courses: Course[] = [];
  const waiting = sequences.map((sequence, at) => ({ sequence, at }));
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      courses[next.at] = await new SequenceRun(api, next.sequence).course();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await api.close();
  return courses;
}

/** One sequence on one server. */
class SequenceRun {
  readonly #api: ApiClient;
  readonly #sequence: Sequence;
  readonly #answered = new Answered();
  readonly #outcomes: Outcome[] = [];
  readonly #streams: { readonly watch: Watch; readonly stream: WatchStream }[] = [];

  constructor(api: ApiClient, sequence: Sequence) {
    this.#api = api;
    this.#sequence = sequence;
  }

  async course(): Promise<Course> {
    const { namespace, caller, steps } = this.#sequence;
    await this.#api.create('/api/v1/namespaces', { metadata: { name: namespace } });
    if (caller) await this.#give(caller);
    for (const path of new Set(this.#sequence.watches.map((watch) => watch.path))) await this.#lookAt(path);
    for (const [at, step] of steps.entries()) {
      await this.#open(at);
      this.#outcomes.push(await this.#send(step));
    }
    await this.#open(steps.length);
    const events: Json[][] = [];
    for (const { watch, stream } of this.#streams) events.push(await this.#eventsOf(watch, stream));
    return inSharedWords(this.#sequence, { outcomes: this.#outcomes, events });
  }

  /** Reads a version from which a watch may start. */
  async #lookAt(path: string): Promise<void> {
    const { status, body } = await this.#api.get(`${path}?limit=1`);
    this.#answered.note(path, { status, body });
  }

  async #send(step: Step): Promise<Outcome> {
    const { method, path, type, headers, body } = step;
    const query = new URLSearchParams(this.#answered.fill(step.query ?? {})).toString();
    const filled = body === undefined ? undefined : this.#answered.fill(body);
    const answer = await this.#api.send(method, query === '' ? path : `${path}?${query}`, filled, {
      headers: { ...(body !== undefined && { 'content-type': type ?? 'application/json' }), ...headers },
    });
    const outcome = { status: answer.status, body: answer.body ?? answer.text };
    if (step.collection && step.query?.['dryRun'] === undefined) this.#answered.note(step.collection, outcome);
    return outcome;
  }

  async #open(at: number): Promise<void> {
    for (const watch of this.#sequence.watches.filter(({ before }) => before === at)) {
      const query = new URLSearchParams({ ...this.#answered.fill(watch.query), watch: 'true' }).toString();
      this.#streams.push({ watch, stream: await this.#api.watch(`${watch.path}?${query}`) });
    }
  }

  /** All events up to that of the last object, or up to the end of the stream if the server ends it. */
  async #eventsOf(watch: Watch, stream: WatchStream): Promise<Json[]> {
    const url = `${watch.path}/${watch.last.metadata.name}`;
    await this.#api.delete(`${url}?gracePeriodSeconds=0`);
    const made = await this.#api.send('POST', watch.path, watch.last);
    const events: Json[] = [];
    if (made.status === 201)
      for (let event = await stream.next(); event; event = await stream.next()) {
        events.push(event);
        const { labels, uid } = event.object.metadata ?? {};
        if (labels?.[LAST] && uid === made.body.metadata.uid) break;
      }
    stream.close();
    return events;
  }

  /** Grants the rights of a caller. Resolves when the server applies them, because it sees them by watches of its own. */
  async #give({ name, rules, clusterRules }: Caller): Promise<void> {
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const { namespace } = this.#sequence;
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }];
    for (const [where, role, some] of [
      [`${rbac}/namespaces/${namespace}/role`, 'Role', rules],
      [`${rbac}/clusterrole`, 'ClusterRole', clusterRules],
    ] as const) {
      const probe = { verbs: ['probe'], apiGroups: [''], resources: [role] };
      const metadata = { name };
      await this.#api.create(`${where}s`, { metadata, rules: [...some, probe] });
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: role, name };
      await this.#api.create(`${where}bindings`, { metadata, roleRef, subjects });
      const resourceAttributes = { verb: 'probe', resource: role, ...(role === 'Role' && { namespace }) };
      const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' };
      await waitFor(
        () => this.#api.create(REVIEWS, { ...review, spec: { user: name, resourceAttributes } }),
        ({ status }) => status.allowed,
        { turn: () => sleep(5), looks: 12_000 },
      );
    }
  }
}

const REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
