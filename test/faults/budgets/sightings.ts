/** What the service did with one message of an outside cloud, as the attacker saw it. */
export interface Sighting {
  readonly message: string;
  readonly size: string;
  /** The service used the message, or read past it. */
  readonly isTaken: boolean;
  readonly fate: string;
}

export type Note = (sighting: Sighting) => void;

/**
 * The table of bounds as they were seen: for each message the sizes that were taken, and the fate of each larger one.
 * Sizes of a message are noted from the smallest to the largest.
 */
export function shownSightings(sightings: readonly Sighting[]): string {
  const rows = [...Map.groupBy(sightings, ({ message }) => message)].map(([message, seen]) => {
    const taken = seen.filter(({ isTaken }) => isTaken).map(({ size, fate }) => `${size} (${fate})`);
    const beyond = seen.filter(({ isTaken }) => !isTaken).map(({ size, fate }) => `${size}: ${fate}`);
    return [message, taken.join("; ") || "nothing", beyond.join("; ") || "no bound was seen"];
  });
  return ["| message | taken | what happened beyond it |", "|---|---|---|", ...rows.map(rowOf)].join("\n");
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll(/\s+/g, " ")).join(" | ")} |`;
}
