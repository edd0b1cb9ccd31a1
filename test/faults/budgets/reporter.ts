/** Preloaded into the service under test: answers each message with the active resources of its event loop, by kind. */
process.on("message", () => {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  process.send?.(counts);
});
process.on("disconnect", () => process.exit());
