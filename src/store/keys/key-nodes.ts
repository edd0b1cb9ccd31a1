import { Conflict } from "../../model/errors.ts";
import { nodeName } from "../../model/node-name.ts";
import type { NodeKeys } from "../tables/nodes.ts";

/** A node counts as alive within this time after its last heartbeat. Nodes send one every 1.5 seconds. */
const leaseMs = 6_000;

/** Live nodes whose key file lacks the key: they could not open values that are sealed with it. */
export function liveNodesLacking(nodes: readonly NodeKeys[], keyId: string): readonly NodeKeys[] {
  return liveNodes(nodes).filter(({ keyIds }) => keyIds && !keyIds.includes(keyId));
}

/** Nodes that seal with another key. Silent nodes count too: they may return within the hour for which they are listed. */
export function nodesSealingWithOther(nodes: readonly NodeKeys[], keyId: string): readonly NodeKeys[] {
  return nodes.filter(({ keyIds }) => keyIds && keyIds[0] !== keyId);
}

/** Nodes of an older version, which does not report its keys. */
export function nodesWithUnknownKeys(nodes: readonly NodeKeys[]): readonly NodeKeys[] {
  return nodes.filter(({ keyIds }) => !keyIds);
}

export function holdersOf(nodes: readonly NodeKeys[], keyId: string): readonly NodeKeys[] {
  return nodes.filter(({ keyIds }) => keyIds?.includes(keyId));
}

export function liveNodes(nodes: readonly NodeKeys[]): readonly NodeKeys[] {
  return nodes.filter(({ silentMs }) => silentMs < leaseMs);
}

/** The `refuse…` functions throw Conflict when the list of nodes is not empty. */
export function refuseLacking(nodes: readonly NodeKeys[], keyId: string): void {
  if (nodes.length === 0) return;
  throw new Conflict(
    `The key file of ${listNodes(nodes)} lacks key ${keyId}: ${nodes.length === 1 ? "that node" : "those nodes"} could not open values that are sealed with it. Copy the key file there and run this again; a node reads it within two seconds. --force skips this check.`,
  );
}

export function refuseSealingWithOther(nodes: readonly NodeKeys[], keyId: string): void {
  if (nodes.length === 0) return;
  throw new Conflict(
    `${capitalize(listNodes(nodes))} still ${nodes.length === 1 ? "seals" : "seal"} with another key than ${keyId}: values that are sealed there would be lost without that key. Copy the key file there, run breezeway key rotate, then this again. A killed node is forgotten after an hour. --force skips this check.`,
  );
}

export function refuseUnknownKeys(nodes: readonly NodeKeys[]): void {
  if (nodes.length === 0) return;
  throw new Conflict(
    `${capitalize(listNodes(nodes))} ${nodes.length === 1 ? "runs" : "run"} a version that doesn't report which key it seals with. Upgrade first, or make sure that the key file there has the new key in its first line, and use --force.`,
  );
}

export function refuseHeld(nodes: readonly NodeKeys[], keyId: string): void {
  if (nodes.length === 0) return;
  throw new Conflict(
    `Key ${keyId} is not lost: the key file of ${listNodes(nodes)} holds it. Copy that file here. With --force, the values that are sealed with the key are dropped anyway.`,
  );
}

const nodesListed = 3;

function listNodes(nodes: readonly NodeKeys[]): string {
  const shown = nodes
    .slice(0, nodesListed)
    .map(({ id, silentMs }) => `${nodeName(id)} (last heartbeat ${Math.round(silentMs / 1000)} s ago)`);
  const more = nodes.length > shown.length ? ` and ${nodes.length - shown.length} more` : "";
  return `${nodes.length === 1 ? "node" : "nodes"} ${shown.join(", ")}${more}`;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
