import type { Command } from "commander";
import { nodeName } from "../../model/node-name.ts";
import type { AdminCommand, KeyRotation, KeyStatus, LostValue } from "../administration/admin-command.ts";
import { hasFlag, text } from "../input.ts";
import type { Noun } from "../noun.ts";
import { counted, table, whole } from "../terminal/output.ts";

const withForce = (command: Command) => command.option("--force", "do not wait for nodes whose key file differs");

const list: AdminCommand = {
  name: "key list",
  meaning:
    "list keys by their ids: how much is sealed with each, how many nodes seal with it, and which keys are missing",
  examples: ["key list"],
  async act({ keys }) {
    return { answer: { keys: await keys.list() } };
  },
  toText({ keys }) {
    const statuses = keys as KeyStatus[];
    const isShared = statuses.some(({ nodes }) => nodes !== undefined);
    const shown = table(
      [whole("KEY"), "ROLE", "SEALED VALUES", ...(isShared ? ["NODES THAT SEAL WITH IT"] : [])],
      statuses.map(({ keyId, role, values, nodes }) => [keyId, role, values, ...(isShared ? [nodes] : [])]),
    );
    const missing = statuses.filter(({ role }) => role === "missing").map(({ keyId }) => keyId);
    if (missing.length === 0) return shown;
    return `${shown}\n\nKey ${missing.join(", ")} is not in the key file: values that are sealed with it cannot be opened. Put it back, or see: breezeway key drop --help`;
  },
};

const add: AdminCommand = {
  name: "key add",
  meaning: "create the key for the next rotation, so that it can be copied to all nodes first",
  examples: ["key add"],
  async act({ keys }) {
    const keyId = await keys.add();
    return { answer: { keyId }, changed: { detail: { key: keyId } } };
  },
  toText: ({ keyId }) => `Key ${keyId} is in the key file. Copy the file to all nodes, then run: breezeway key rotate`,
};

const rotate: AdminCommand = {
  name: "key rotate",
  meaning: "reseal all values with a new key while the service runs; repeat it if it was interrupted",
  examples: ["key rotate"],
  options: withForce,
  async act({ keys }, input, _service, onProgress) {
    const { keyId, resealed, behind, silent } = await keys.rotate(onProgress, hasFlag(input, "force"));
    return {
      answer: { keyId, resealed, behind, ...(silent && { silent }) },
      changed: { detail: { key: keyId, resealed } },
    };
  },
  toText({ keyId, resealed, behind, silent = [] }) {
    const done = `Resealed ${counted(resealed, "value")}: all values are now sealed with key ${keyId}.`;
    const silentNodes = silent as Required<KeyRotation>["silent"];
    const live = (behind as string[]).filter((id) => !silentNodes.some(({ node }) => node === id));
    if (live.length > 0) {
      return `${done} ${counted(live.length, "node")} still ${live.length === 1 ? "seals" : "seal"} with another key (${live.map(nodeName).join(", ")}). Copy the key file to all nodes, then run: breezeway key rotate`;
    }
    if (silentNodes.length > 0) {
      const listed = silentNodes.map(({ node, seconds }) => `${nodeName(node)}, silent for ${seconds} s`).join("; ");
      return `${done} ${counted(silentNodes.length, "node")} sealed with another key before the last heartbeat (${listed}). If it will not return with its old key file, for example because it was killed, finish with: breezeway key rotate --force. Without that, it is forgotten an hour after its last heartbeat.`;
    }
    return `${done} Older backups still need the old key: keep a copy of it with them, then remove it from the key file with: breezeway key prune`;
  },
};

const prune: AdminCommand = {
  name: "key prune",
  meaning: "remove the keys from the key file that have sealed no stored value and that no node seals with",
  examples: ["key prune"],
  options: withForce,
  async act({ keys }, input) {
    const removed = await keys.prune(hasFlag(input, "force"));
    return { answer: { removed }, ...(removed.length > 0 && { changed: { detail: { keys: removed } } }) };
  },
  toText: ({ removed }) =>
    removed.length === 0
      ? "Every key is still needed."
      : `Removed key ${removed.join(", ")} from the key file here. With several nodes, copy the file to all of them.`,
};

const drop: AdminCommand = {
  name: "key drop",
  meaning: "discard the values that a lost key sealed, and list them: links need a new token, webhooks are removed",
  examples: ["key drop --key Zk3vQ0x9aB7c"],
  options: (command) =>
    command
      .requiredOption("--key <id>", "the lost key, as key list shows it")
      .option("--force", "even if a node still has the key"),
  async act({ keys }, input) {
    const keyId = text(input, "key");
    const lost = await keys.drop(keyId, hasFlag(input, "force"));
    const links = lost.filter((value) => value.kind === "link").map(({ kind: _, ...link }) => link);
    const webhooks = lost.filter((value) => value.kind === "webhook").map(({ kind: _, ...webhook }) => webhook);
    const outlets = lost.filter((value) => value.kind === "outlet").map(({ kind: _, ...outlet }) => outlet);
    const ofOutlets = outlets.length > 0;
    const detail = {
      key: keyId,
      links: links.length,
      webhooks: webhooks.length,
      ...(ofOutlets && { outlets: outlets.length }),
    };
    return { answer: { keyId, links, webhooks, ...(ofOutlets && { outlets }) }, changed: { detail } };
  },
  toText({ keyId, links, webhooks, outlets = [] }) {
    const lost = [
      ...(links as Extract<LostValue, { kind: "link" }>[]).map(
        ({ userId, deviceId, ecosystem }) => `  user ${userId}: the token of device ${deviceId} (${ecosystem})`,
      ),
      ...(webhooks as Extract<LostValue, { kind: "webhook" }>[]).map(
        ({ id, ownerId, clientId }) => `  ${ownerOf(ownerId)}: webhook ${id} of client ${clientId}`,
      ),
      ...(outlets as Extract<LostValue, { kind: "outlet" }>[]).map(
        ({ id, ownerId, clientId }) => `  ${ownerOf(ownerId)}: outlet ${id} with client ${clientId}; add it again`,
      ),
    ];
    const shown = lost.slice(0, shownAtMost);
    if (lost.length > shown.length) shown.push(`  and ${lost.length - shown.length} more; --json lists all`);
    const next =
      "Their users must connect their homes again: breezeway link. Clients must add their webhooks again. With several nodes, copy the key file to all of them before you start them.";
    return [
      `Discarded the values of key ${keyId}: ${counted(links.length, "token")} of links, ${counted(webhooks.length, "webhook")}.`,
      ...shown,
      next,
    ].join("\n");
  },
};

const shownAtMost = 20;

/** Webhooks of a tenant itself have the negated tenant id as their owner. */
function ownerOf(ownerId: number): string {
  return ownerId < 0 ? `tenant ${-ownerId}` : `user ${ownerId}`;
}

export const key: Noun = {
  name: "key",
  meaning: "the keys that ecosystem tokens and webhook secrets are sealed with",
  commands: [list, add, rotate, prune, drop],
};

/** Commands that work while keys that the store needs are missing. */
export const commandsForLostKeys: readonly string[] = [list.name, drop.name];
