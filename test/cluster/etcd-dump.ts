interface Entry {
  readonly key: string;
  /** As latin1, so that every byte is one character; texts in Secrets are stored as they are. */
  readonly value: string;
}

/** Everything that the API server has stored: every key of etcd and its newest value, history aside. */
export async function readEtcd(etcdUrl: string): Promise<readonly Entry[]> {
  const range = { key: text64('/registry/'), range_end: text64('/registry0') };
  const answer = await fetch(`${etcdUrl}/v3/kv/range`, { method: 'POST', body: JSON.stringify(range) });
  const { kvs = [] } = (await answer.json()) as { kvs?: { key: string; value: string }[] };
  return kvs.map(({ key, value }) => ({
    key: Buffer.from(key, 'base64').toString(),
    value: Buffer.from(value, 'base64').toString('latin1'),
  }));
}

const text64 = (text: string): string => Buffer.from(text).toString('base64');
