// Prints "PASSED FAILED" for a vitest JSON report. A failed run whose report names no failed test, or that has no report
// or no test at all, is one failure: something broke outside the tests.
import { readFileSync } from 'node:fs';

const [file, status] = process.argv.slice(2);
let passed = 0;
let failed = 0;
try {
  const report = JSON.parse(readFileSync(file, 'utf8'));
  passed = report.numPassedTests;
  failed = report.numFailedTests + report.numPendingTests;
} catch {
  failed = 0;
}
if ((status !== '0' || passed === 0) && failed === 0) failed = 1;
console.log(passed, failed);
