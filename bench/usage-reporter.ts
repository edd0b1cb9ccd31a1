/**
 * Preloaded into a measured process: answers each message with the CPU time and memory of the process, all threads
 * included, and ends the process with its parent.
 */
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  const usage: Usage = { cpuMs: (user + system) / 1000, rssBytes: process.memoryUsage.rss() };
  process.send?.(usage);
});
process.on("disconnect", () => process.exit());

export interface Usage {
  /** Since the process began. */
  readonly cpuMs: number;
  readonly rssBytes: number;
}
