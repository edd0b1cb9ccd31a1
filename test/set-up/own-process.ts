/** Files and folders of tests that run in a process of their own, each with the reason. All others share processes. */
const reasons: Readonly<Record<string, string>> = {
  "test/sdk/bundling.test.ts": "bundlers leave file watchers and helper processes open",
  "test/simulate/": "listens for unhandled rejections of the whole process",
};

/** True for a file whose tests must not share a process with the tests of other files. */
export function needsOwnProcess(file: string): boolean {
  return Object.keys(reasons).some((start) => file.startsWith(start));
}
