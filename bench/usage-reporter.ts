/**
 * Preloaded into a measured process: answers each message with the CPU time and memory of the process, all threads
 * included, and ends the process with its parent.
 */
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  const heap = { heapUsedBytes: heapUsed, heapBytes: heapTotal, bufferBytes: external };
  const usage: Usage = { cpuMs: (user + system) / 1000, rssBytes: rss, ...heap };
  process.send?.(usage);
});
process.on("disconnect", () => process.exit());

export interface Usage {
  /** Since the process began. */
  readonly cpuMs: number;
  readonly rssBytes: number;
  /** What objects take of V8's heap, those included that were not collected yet. */
  readonly heapUsedBytes: number;
  /** What V8's heap takes of the memory. */
  readonly heapBytes: number;
  /** Buffers and other memory outside V8's heap that its objects hold. */
  readonly bufferBytes: number;
}
