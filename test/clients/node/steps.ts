import { createInterface } from 'node:readline';
import type { Line, Step } from '../client-program.ts';
import type { Told } from '../stand.ts';

/** What the test says of a step. */
export interface Asked {
  readonly step: Step;
  /** The token to verify. */
  readonly token?: string;
}

type Fact = Omit<Line, 'step' | 'ok'>;

export const told = JSON.parse(process.env['CLIENT'] ?? '{}') as Told;

/** Prints what a watch saw. */
export const saw = (type: string, node?: string): void => print({ step: 'watch', type, node });

/** Says that the watch has failed for good. */
export const failed = (error: unknown): void => print({ step: 'watch', ok: false, error: String(error) });

/** Does each step that standard input names, one after the other, and prints what came of it; ends with standard input. */
export async function takeSteps(steps: Partial<Record<Step, (asked: Asked) => unknown>>): Promise<void> {
  for await (const text of createInterface({ input: process.stdin })) {
    const asked = JSON.parse(text) as Asked;
    const { step } = asked;
    try {
      const take = steps[step];
      if (!take) throw new Error(`the program has no step ${step}`);
      const fact = (await take(asked)) as Fact | undefined;
      if (step !== 'watch') print({ step, ok: true, ...fact });
    } catch (error) {
      print({ step, ok: false, error: String(error) });
    }
  }
  process.exit();
}

const print = (line: object): void => console.log(JSON.stringify(line));
