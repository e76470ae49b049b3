import { describe, expect, test } from 'vitest';
import { HELP, parseCommand } from '../../../bench/options.ts';
import { SUBJECTS } from '../../../bench/subjects.ts';

const DEFAULTS = {
  nodes: [100, 1000],
  seconds: 3,
  rounds: 3,
  samples: 200,
  watchers: 10_000,
  minutes: 2,
  visits: 100_000,
  seed: 1,
  svg: undefined,
};
const ON_DEMAND = [
  'curve',
  'soak',
  'reviews',
  'watch',
  'accounts',
  'gateway',
  'login',
  'flood',
  'searches',
  'logs',
  'turns',
  'browser',
  'visits',
  'growth',
  'kinds',
  'page',
  'tenant',
];

describe('bench options', () => {
  test('without any, all subjects are measured but those on demand', () => {
    const subjects = Object.keys(SUBJECTS).filter((name) => !ON_DEMAND.includes(name));
    const rest = { built: false, cluster: true, json: false };
    expect(parseCommand([])).toEqual({ kind: 'run', options: DEFAULTS, subjects, ...rest });
  });

  test('take every value', () => {
    const text =
      '--nodes 5000,10,5000 --seconds 1 --rounds 5 --only sign-in --samples 2000 --watchers 500 --minutes 60 --visits 900 --seed 7 --svg curve.svg --built --no-cluster --json';
    const options = {
      nodes: [10, 5000],
      seconds: 1,
      rounds: 5,
      samples: 2000,
      watchers: 500,
      minutes: 60,
      visits: 900,
      seed: 7,
      svg: 'curve.svg',
    };
    const rest = { built: true, cluster: false, json: true };
    expect(parseCommand(text.split(' '))).toEqual({ kind: 'run', options, subjects: ['sign-in'], ...rest });
  });

  test.each(Object.keys(SUBJECTS))('measure %s alone', (name) => {
    expect(parseCommand(['--only', name])).toMatchObject({ kind: 'run', subjects: [name] });
  });

  test.each([
    ['--nodes', '10,', '--nodes: expected a positive whole number, not ""'],
    ['--nodes', '0', '--nodes: expected a positive whole number, not "0"'],
    ['--seconds', '1.5', '--seconds: expected a positive whole number, not "1.5"'],
    ['--samples', '-1', '--samples: expected a positive whole number, not "-1"'],
    ['--only', 'list', `--only: expected one of ${Object.keys(SUBJECTS).join(', ')}, not "list"`],
    ['--rounds', '1e3', '--rounds: expected a positive whole number, not "1e3"'],
  ])('refuses %s %j with a sentence', (option, value, message) => {
    expect(parseCommand([`${option}=${value}`])).toEqual({ kind: 'misuse', message });
  });

  test('refuses an option that it does not know', () => {
    expect(parseCommand(['--fast'])).toMatchObject({ kind: 'misuse' });
  });

  test('are all in the help, as is every subject', () => {
    expect(parseCommand(['--help'])).toEqual({ kind: 'help' });
    const names = ['only', ...Object.keys(DEFAULTS), 'built', 'no-cluster', 'json', 'help'];
    for (const name of names) expect(HELP).toContain(`\n  --${name} `);
    for (const name of Object.keys(SUBJECTS)) expect(HELP).toContain(`\n  ${name} `);
  });
});
