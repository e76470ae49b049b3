import { Counter, Gauge, type Registry } from 'prom-client';
import { qualifiedName } from './catalog/kind-answer.ts';
import type { HeldKind, LetGoReason } from './mirrors/held-kind.ts';

const STOP_REASONS: readonly LetGoReason[] = ['idle', 'memory', 'removed', 'forbidden', 'stopping'];
const REFUSED_REASONS = ['memory', 'forbidden'] as const;

interface KindGauges {
  held(): Iterable<HeldKind>;
  /** Bytes. */
  limit(): number;
}

/** `gatehouse_kinds_*`: the kinds in memory. */
export class KindMetrics {
  readonly #registry: Registry;
  readonly #started: Counter;
  readonly #stopped: Counter<'reason'>;
  readonly #refused: Counter<'reason'>;

  constructor(registry: Registry) {
    this.#registry = registry;
    const registers = [registry];
    this.#started = new Counter({
      name: 'gatehouse_kinds_started_total',
      help: 'Kinds that were read into memory, because somebody asked for them.',
      registers,
    });
    this.#stopped = new Counter({
      name: 'gatehouse_kinds_stopped_total',
      help: 'Kinds that were let go from memory, by reason.',
      labelNames: ['reason'],
      registers,
    });
    this.#refused = new Counter({
      name: 'gatehouse_kinds_refused_total',
      help: 'Kinds that could not be read into memory, by reason.',
      labelNames: ['reason'],
      registers,
    });
    for (const reason of STOP_REASONS) this.#stopped.inc({ reason }, 0);
    for (const reason of REFUSED_REASONS) this.#refused.inc({ reason }, 0);
  }

  /** Called once. Exposes what is in memory, by kind. */
  expose({ held, limit }: KindGauges): void {
    const registers = [this.#registry];
    const each = (name: string, help: string, read: (kind: HeldKind) => number): void => {
      new Gauge({
        name,
        help,
        labelNames: ['resource'],
        registers,
        collect() {
          this.reset();
          for (const kind of held()) this.set({ resource: qualifiedName(kind.clusterKind) }, read(kind));
        },
      });
    };
    each('gatehouse_kinds_objects', 'Objects of a kind in memory.', ({ store }) => store.size);
    each('gatehouse_kinds_bytes', 'Bytes of a kind in memory.', ({ bytes }) => bytes);
    each('gatehouse_kinds_held_seconds', 'Seconds since the kind was read into memory.', ({ ageMs }) => ageMs / 1_000);
    each(
      'gatehouse_kinds_staleness_seconds',
      'Seconds since the last proof that a kind in memory is current.',
      ({ reflector }) => reflector.stalenessMs() / 1_000,
    );
    new Gauge({
      name: 'gatehouse_kinds_held',
      help: 'Kinds in memory, by the way in which they are held.',
      labelNames: ['resource', 'way'],
      registers,
      collect() {
        this.reset();
        for (const { clusterKind, way } of held()) this.set({ resource: qualifiedName(clusterKind), way }, 1);
      },
    });
    new Gauge({
      name: 'gatehouse_kinds_memory_limit_bytes',
      help: 'The bytes that all kinds together may have.',
      registers,
      collect() {
        this.set(limit());
      },
    });
  }

  started(): void {
    this.#started.inc();
  }

  stopped(reason: LetGoReason): void {
    this.#stopped.inc({ reason });
  }

  refused(reason: (typeof REFUSED_REASONS)[number]): void {
    this.#refused.inc({ reason });
  }
}
