let known: { readonly limit: number | undefined } | undefined;

/** Maximal number of open files and sockets of this process; undefined where the system doesn't say. */
export function openFileLimit(): number | undefined {
  // The limit never changes while a process runs, and a report takes some milliseconds.
  known ??= { limit: reportedLimit() };
  return known.limit;
}

function reportedLimit(): number | undefined {
  const report = process.report as typeof process.report & { excludeNetwork: boolean };
  const isNetworkExcluded = report.excludeNetwork;
  // Without this the report resolves the names of all peers.
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { readonly userLimits?: { readonly open_files?: { soft: unknown } } };
  report.excludeNetwork = isNetworkExcluded;
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isFinite(soft) ? soft : undefined;
}
