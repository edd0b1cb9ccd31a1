/**
 * Loaded into a measured process before its own code: answers each message with what the process has used so far, all
 * its threads included, and ends with whoever started it. It does nothing in between.
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
