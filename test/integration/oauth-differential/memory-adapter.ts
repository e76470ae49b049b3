interface Payload {
  readonly grantId?: string;
  readonly uid?: string;
  consumed?: number;
}

/** The storage that oidc-provider wants of each kind of thing it keeps, in memory and without an end. */
export class MemoryAdapter {
  readonly #stored = new Map<string, Payload>();

  async upsert(id: string, payload: Payload): Promise<void> {
    this.#stored.set(id, payload);
  }

  async find(id: string): Promise<Payload | undefined> {
    return this.#stored.get(id);
  }

  async findByUid(uid: string): Promise<Payload | undefined> {
    return [...this.#stored.values()].find((payload) => payload.uid === uid);
  }

  async consume(id: string): Promise<void> {
    const payload = this.#stored.get(id);
    if (payload) payload.consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    this.#stored.delete(id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [id, payload] of this.#stored) if (payload.grantId === grantId) this.#stored.delete(id);
  }
}
