import { test } from 'vitest';
import type { Command } from './commands.ts';
import { PLAIN } from './plain-setting.ts';
import { play } from './play.ts';

const repeat = (times: number, commands: readonly Command[]): Command[] =>
  Array.from({ length: times }, () => commands).flat();

test('I4 10,000 changes between reads alter no answer that was given before', async () => {
  const nodes = [0, 1, 2, 3, 4];
  const changes = nodes.flatMap((node): Command[] => [
    { do: 'create', node },
    { do: 'update', node },
    { do: 'recreate', node: (node + 2) % nodes.length },
    { do: 'delete', node: (node + 3) % nodes.length },
  ]);
  await play(PLAIN, repeat(500, changes));
});

test('I7 1,000 reconnects of every kind leave no timer and no listener', async () => {
  const reconnects: Command[] = [
    { do: 'close' },
    { do: 'reset' },
    { do: 'partial', node: 1 },
    { do: 'error', code: 500 },
    { do: 'error', code: 429 },
    { do: 'half_open' },
    { do: 'rotate', count: 1 },
    { do: 'restart', ms: 0 },
  ];
  await play(
    PLAIN,
    repeat(
      125,
      reconnects.flatMap((reconnect) => [reconnect, { do: 'wait', ms: 76_000 } as const]),
    ),
  );
});
