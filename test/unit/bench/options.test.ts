import { describe, expect, test } from 'vitest';
import { HELP, parseCommand } from '../../../bench/options.ts';

const DEFAULTS = {
  nodes: [100, 1000],
  seconds: 3,
  rounds: 3,
  only: undefined,
  samples: 200,
  watchers: 10_000,
  minutes: 2,
  seed: 1,
  svg: undefined,
  built: false,
  cluster: true,
  json: false,
};

describe('bench options', () => {
  test('has a default for everything', () => {
    expect(parseCommand([])).toEqual({ kind: 'run', options: DEFAULTS });
  });

  test('takes every option', () => {
    const args = [
      '--nodes',
      '10,5000',
      '--seconds',
      '1',
      '--rounds',
      '5',
      '--only',
      'sign-in',
      '--samples',
      '2000',
      '--watchers',
      '500',
      '--minutes',
      '60',
      '--seed',
      '7',
      '--svg',
      'curve.svg',
      '--built',
      '--no-cluster',
      '--json',
    ];
    const options = {
      nodes: [10, 5000],
      seconds: 1,
      rounds: 5,
      only: 'sign-in',
      samples: 2000,
      watchers: 500,
      minutes: 60,
      seed: 7,
      svg: 'curve.svg',
      built: true,
      cluster: false,
      json: true,
    };
    expect(parseCommand(args)).toEqual({ kind: 'run', options });
  });

  test('measures each number of nodes once, the smallest first', () => {
    expect(parseCommand(['--nodes', '1000,100,1000'])).toEqual({ kind: 'run', options: DEFAULTS });
  });

  test.each([
    ['--nodes', '10,', '--nodes: expected a positive whole number, not ""'],
    ['--nodes', '0', '--nodes: expected a positive whole number, not "0"'],
    ['--seconds', '1.5', '--seconds: expected a positive whole number, not "1.5"'],
    ['--samples', '-1', '--samples: expected a positive whole number, not "-1"'],
    [
      '--only',
      'list',
      '--only: expected one of lists, pages, size, idle, churn, storm, curve, soak, sign-in, reviews, watch, turns, not "list"',
    ],
    ['--rounds', '1e3', '--rounds: expected a positive whole number, not "1e3"'],
  ])('refuses %s %j with a sentence', (option, value, message) => {
    expect(parseCommand([`${option}=${value}`])).toEqual({ kind: 'misuse', message });
  });

  test('refuses an option that it does not know', () => {
    expect(parseCommand(['--fast'])).toMatchObject({ kind: 'misuse' });
  });

  test('names every option in its help', () => {
    expect(parseCommand(['--help'])).toEqual({ kind: 'help' });
    const { cluster: _, ...named } = DEFAULTS;
    for (const name of [...Object.keys(named), 'no-cluster', 'help']) expect(HELP).toContain(`  --${name} `);
  });
});
