/** `35 ms`, `1.5 s`, `12 min`. */
export function lengthWords(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : ms < 120_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}
