import { writeSync } from "node:fs";

/**
 * Preloaded into every test process of `npm test`: a process that is still there long after all its tests should have
 * ended is a failed test, not a run that never ends.
 */
const minutes = 10;

setTimeout(() => {
  const resources = process.getActiveResourcesInfo().join(", ");
  writeSync(2, `This test file did not end within ${minutes} minutes. Still open: ${resources}\n`);
  process.exit(1);
}, minutes * 60_000).unref();
