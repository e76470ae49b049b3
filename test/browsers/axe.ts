import axe from 'axe-core';
import { expect } from 'vitest';
import type { Tab } from './tab.ts';

const MODES = {
  light: { name: 'prefers-color-scheme', value: 'light' },
  dark: { name: 'prefers-color-scheme', value: 'dark' },
  forced: { name: 'forced-colors', value: 'active' },
};

/**
 * Every rule that axe has, the experimental ones and those of the level AAA as well. `hidden-content` says only that something is hidden,
 * which the name for the password manager is.
 */
const ALL_RULES: readonly string[] = axe.getRules().map(({ ruleId }) => ruleId);

export interface AxeOptions {
  /** Rules that do not count here, each with its reason at the caller. */
  readonly without?: readonly string[];
  /** The selector of the only part that is looked at. */
  readonly part?: string;
}

/** Expects that axe finds nothing on the page as it is, in light, dark and forced colours, and that it can judge everything. */
export async function expectAccessible(tab: Tab, { without = [], part }: AxeOptions = {}): Promise<void> {
  await tab.page.evaluate(axe.source);
  for (const [mode, feature] of Object.entries(MODES)) {
    await tab.page.emulateMediaFeatures([feature]);
    const found = (await tab.page.evaluate(findings(['hidden-content', ...without], part))) as object;
    expect.soft({ mode, ...found }).toEqual({ mode, violations: [], incomplete: [] });
  }
}

/** Runs in the page: what breaks a rule, and what axe cannot judge. */
const findings = (without: readonly string[], part?: string): string => `(async () => {
  const rules = ${JSON.stringify(Object.fromEntries(ALL_RULES.map((rule) => [rule, { enabled: !without.includes(rule) }])))};
  const { violations, incomplete } = await axe.run(${part === undefined ? 'document' : JSON.stringify(part)}, { rules });
  const told = ({ id, nodes }) => nodes.map(({ html, any }) => [id, html.slice(0, 300), ...any.map(({ message }) => message)].join(': '));
  return { violations: violations.flatMap(told), incomplete: incomplete.flatMap(told) };
})()`;
