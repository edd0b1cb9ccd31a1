/** How many files and sockets this process may have open, or undefined where the system doesn't tell. */
export function openFileLimit(): number | undefined {
  const report = process.report as typeof process.report & { excludeNetwork: boolean };
  const isNetworkExcluded = report.excludeNetwork;
  // Otherwise the report looks up the names of all peers.
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { readonly userLimits?: { readonly open_files?: { soft: unknown } } };
  report.excludeNetwork = isNetworkExcluded;
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isFinite(soft) ? soft : undefined;
}
