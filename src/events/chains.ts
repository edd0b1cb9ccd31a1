import type { TailedEntry } from "../store/tables/log.ts";
import type { LogPosition } from "../store/tables/log-position.ts";
import { comparePositions } from "../store/tables/log-position.ts";

/** One entry of the log in a chain, with its body parsed; the body of an entry that can't be read is empty. */
export interface ChainStep extends Omit<TailedEntry, "body"> {
  readonly body: Readonly<Record<string, unknown>>;
}

/** What one cause has led to: a change, the alerts that it made fire, what they wrote and commanded. */
export interface Chain {
  /** The position of its first entry. */
  readonly position: LogPosition;
  /** Oldest first. */
  readonly steps: readonly ChainStep[];
}

/**
 * Groups entries by their causes. The entries of a chain follow each other among those of its user: the transaction of
 * a change holds the user's lock until all alerts have fired. What becomes of a command later belongs to the chain that
 * has sent it. `entries` are newest first, and so are the chains.
 */
export function chainsOf(entries: readonly TailedEntry[]): readonly Chain[] {
  const chains: ChainStep[][] = [];
  const latest = new Map<number | null, ChainStep[]>();
  const byCommand = new Map<string, ChainStep[]>();
  for (const entry of entries.toReversed()) {
    const step = { ...entry, body: bodyOf(entry) };
    const command = commandOf(step);
    const sent = command === undefined ? undefined : byCommand.get(command);
    const before = isConsequence(step) ? latest.get(step.userId) : undefined;
    let chain = sent ?? before;
    if (chain) chain.push(step);
    else {
      chain = [step];
      chains.push(chain);
    }
    if (!sent) latest.set(step.userId, chain);
    if (command !== undefined) byCommand.set(command, chain);
  }
  return chains
    .map((steps) => ({ position: steps[0]!.position, steps }))
    .sort((a, b) => comparePositions(b.position, a.position));
}

/** Whether an alert has caused the entry, or the entry is its firing. */
export function isConsequence({ kind, body }: Pick<ChainStep, "kind" | "body">): boolean {
  if (kind === "alert" || kind === "thingAlert") return true;
  if (kind === "thingCommand") return body.alert !== undefined;
  return causeOf(body) === "alert";
}

/** Who or what caused a change; undefined when the entry does not say. */
export function causeOf({ cause }: ChainStep["body"]): string | undefined {
  return typeof cause === "object" && cause !== null && "by" in cause ? String(cause.by) : undefined;
}

/** The command that an entry is about; its state changes several times. */
function commandOf({ kind, body, userId }: ChainStep): string | undefined {
  return kind === "command" || kind === "thingCommand" ? `${kind} ${userId} ${body.id}` : undefined;
}

function bodyOf({ body }: TailedEntry): ChainStep["body"] {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === "object" && parsed !== null ? (parsed as ChainStep["body"]) : {};
  } catch {
    return {};
  }
}
