import { Conflict } from "../../model/errors.ts";
import type { NodeKeys } from "../tables/nodes.ts";

/** A node that was heard of within this time runs. Nodes beat every 1.5 seconds. */
const livingMs = 6_000;

/** Living nodes whose key file lacks the key: they could not open what is sealed with it. */
export function nodesWithout(nodes: readonly NodeKeys[], keyId: string): readonly NodeKeys[] {
  return living(nodes).filter(({ keyIds }) => keyIds && !keyIds.includes(keyId));
}

/** Nodes that seal with another key, silent ones too: they may come back within the hour for which they are kept. */
export function nodesSealingWithout(nodes: readonly NodeKeys[], keyId: string): readonly NodeKeys[] {
  return nodes.filter(({ keyIds }) => keyIds && keyIds[0] !== keyId);
}

/** Nodes that don't say what they seal with: they run a version from before nodes said so. */
export function unknownNodes(nodes: readonly NodeKeys[]): readonly NodeKeys[] {
  return nodes.filter(({ keyIds }) => !keyIds);
}

export function holdersOf(nodes: readonly NodeKeys[], keyId: string): readonly NodeKeys[] {
  return nodes.filter(({ keyIds }) => keyIds?.includes(keyId));
}

export function living(nodes: readonly NodeKeys[]): readonly NodeKeys[] {
  return nodes.filter(({ silentMs }) => silentMs < livingMs);
}

export function refuseWithout(nodes: readonly NodeKeys[], keyId: string): void {
  if (nodes.length === 0) return;
  throw new Conflict(
    `The key file of ${named(nodes)} lacks key ${keyId}: ${nodes.length === 1 ? "it" : "they"} could not open what is sealed with it. Copy the key file there and run this again; a node reads it within two seconds. --force doesn't wait for them.`,
  );
}

export function refuseSealing(nodes: readonly NodeKeys[], keyId: string): void {
  if (nodes.length === 0) return;
  throw new Conflict(
    `${capital(named(nodes))} still ${nodes.length === 1 ? "seals" : "seal"} with another key than ${keyId}: what is sealed there would be lost without it. Copy the key file there, run breezeway key rotate, then this again. A node that was killed is forgotten after an hour. --force doesn't wait for them.`,
  );
}

export function refuseUnknown(nodes: readonly NodeKeys[]): void {
  if (nodes.length === 0) return;
  throw new Conflict(
    `${capital(named(nodes))} ${nodes.length === 1 ? "runs" : "run"} a version that doesn't say which key it seals with. Upgrade first, or see to it that the key file there has the new key in its first line, and use --force.`,
  );
}

export function refuseHeld(nodes: readonly NodeKeys[], keyId: string): void {
  if (nodes.length === 0) return;
  throw new Conflict(
    `Key ${keyId} is not lost: the key file of ${named(nodes)} holds it. Copy that file here. --force drops what is sealed with the key anyway.`,
  );
}

function named(nodes: readonly NodeKeys[]): string {
  const shown = nodes.slice(0, 3).map(({ id, silentMs }) => `${id} (heard of ${Math.round(silentMs / 1000)} s ago)`);
  const more = nodes.length > shown.length ? ` and ${nodes.length - shown.length} more` : "";
  return `${nodes.length === 1 ? "node" : "nodes"} ${shown.join(", ")}${more}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
