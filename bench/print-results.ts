import { printChurn } from './print-churn.ts';
import { printCurve } from './print-curve.ts';
import { printIdle } from './print-idle.ts';
import { printLists } from './print-lists.ts';
import { printPages } from './print-pages.ts';
import { printReviews } from './print-reviews.ts';
import { printSignIn } from './print-sign-in.ts';
import { printSize } from './print-size.ts';
import { printSoak } from './print-soak.ts';
import { printStorm } from './print-storm.ts';
import { printTurns } from './print-turns.ts';
import { printWatch } from './print-watch.ts';
import type { Results } from './results.ts';
import { number } from './table.ts';

/** All results as text: tables, each followed by what it says about a target. */
export function printResults({ machine, ...results }: Results): string {
  return [
    `${machine.processors} processors, Node ${machine.node}, load average ${number(machine.loadAverage)} at the start; medians over rounds`,
    '',
    ...part(results.lists, printLists),
    ...part(results.pages, printPages),
    ...part(results.size, printSize),
    ...part(results.idle, printIdle),
    ...part(results.churn, printChurn),
    ...part(results.storm, printStorm),
    ...part(results.curve, printCurve),
    ...part(results.soak, printSoak),
    ...part(results.signIn, printSignIn),
    ...part(results.reviews, printReviews),
    ...part(results.watch, printWatch),
    ...part(results.turns, printTurns),
  ].join('\n');
}

const part = <Part>(results: Part | undefined, print: (results: Part) => string): string[] =>
  results === undefined ? [] : [print(results)];
