import { parseArgs } from 'node:util';
import { makePlan } from './plan.ts';
import { reportOf } from './report.ts';
import { Trial } from './trial.ts';

const HELP = `npm run mutate -- [FILE or FOLDER...] [--since COMMIT] [--sample COUNT [--offset MUTANTS]]
                   [--unit | --with TESTS] [--journal FOLDER]

Plants bugs, one at a time, and tells which of them no test sees. docs/mutation.md says how, and what it found.

  FILE or FOLDER     none: the eleven folders of src that are held to a score
  --since COMMIT     of those, the files that differ from this commit
  --sample COUNT     so many mutants of each folder of src, spread evenly over its files
  --offset MUTANTS   begins so many mutants later: another sample of the same size
  --unit             the unit tests alone
  --with TESTS       of the other tests those of one folder alone, such as test/integration/accounts
  --journal FOLDER   keeps what was tried there; with the same folder, a run that was stopped goes on
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...{ since: { type: 'string' }, sample: { type: 'string' }, offset: { type: 'string' } },
    ...{ journal: { type: 'string' }, unit: { type: 'boolean' }, with: { type: 'string' } },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}
const sample = values.sample === undefined ? undefined : Number(values.sample);
const plan = makePlan({ names: positionals, since: values.since, sample, offset: Number(values.offset ?? 0) });
process.stdout.write(`${plan.mutants.length} mutants in ${plan.switched.size} files\n`);
const trial = new Trial(plan, values.journal);
const tell = (): boolean => process.stdout.write(reportOf(plan.mutants, trial.killed));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    process.stdout.write('stopped: what was not tried yet counts as alive\n');
    trial.stop();
    tell();
    trial.end();
    process.exit(1);
  });
}
try {
  await trial.run('unit tests', 'test/unit/**/*.test.ts');
  const others = values.with ?? 'test/{contract,integration,model}';
  if (!values.unit) await trial.run('other tests', `${others}/**/*.test.ts`);
  tell();
} finally {
  trial.end();
}
