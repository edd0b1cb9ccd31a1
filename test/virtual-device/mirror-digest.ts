import { createHash } from "node:crypto";
import { readSnapshot } from "../../src/ecosystems/nest/snapshot.ts";
import { encodeNotices } from "../../src/federation/notices.ts";
import type { Home } from "../../src/home/home.ts";
import { sameAlarms } from "../../src/home/transitions.ts";
import { thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { type AttributeValues, blankValues, mirrorChanges } from "../../src/virtual-device/attribute-values.ts";
import { assignIndexes, emptyIndexMap, type IndexMap } from "../../src/virtual-device/index-map.ts";
import { mirror } from "../../src/virtual-device/mirror.ts";
import { encodeIndexMap } from "../../src/virtual-device/stored-index-map.ts";
import { isUrgent } from "../../src/virtual-device/urgent-changes.ts";
import { numbersFrom } from "../set-up/seeded-random.ts";
import { randomDocument, randomHistory } from "./random-documents.ts";
import { sampleDocuments } from "./sample-documents.ts";

/** Digests of everything that the virtual device shows of many documents. */
export interface MirrorDigests {
  readonly samples: readonly string[];
  readonly accounts: readonly string[];
  /** One digest for every 25 steps. */
  readonly history: readonly string[];
}

const accountCount = 1_000;
const historyLength = 5_000;
const stepsPerDigest = 25;

export function mirrorDigests(): MirrorDigests {
  const samples = sampleDocuments().map((document) => digestOf([new Shown().take(document)]));
  const random = numbersFrom(519);
  const accounts = Array.from({ length: accountCount }, () => digestOf([new Shown().take(randomDocument(random))]));
  const history: string[] = [];
  const shown = new Shown();
  let steps: unknown[] = [];
  for (const document of randomHistory(20_26, historyLength)) {
    steps.push(shown.take(document));
    if (steps.length < stepsPerDigest) continue;
    history.push(digestOf(steps));
    steps = [];
  }
  return { samples, accounts, history };
}

/** A virtual device that takes one document after the other. */
class Shown {
  #map: IndexMap = emptyIndexMap;
  #values: AttributeValues = blankValues;
  #last: Home | undefined;
  #steps = 0;

  /** Everything that is stored, told or decided because of this document. */
  take(document: unknown): unknown {
    const account = readSnapshot(document);
    const { map, overLimit, evicted } = assignIndexes(this.#map, account);
    const values = mirror(account, map, this.#values);
    const changes = mirrorChanges(this.#values, values);
    const last = this.#last;
    this.#map = map;
    this.#values = this.#steps++ % 3 === 0 ? withRequests(values) : values;
    this.#last = account;
    return {
      values,
      changes,
      map: encodeIndexMap(map),
      notices: encodeNotices(overLimit, account, map),
      evicted,
      isUrgent: isUrgent(changes),
      sameAlarms: last && sameAlarms(last, account),
    };
  }
}

/** Fan requests that clients wrote meanwhile: the mirror keeps or clears them. */
function withRequests(values: AttributeValues): AttributeValues {
  const written = [...values];
  for (const [x, y] of [
    [1, 1],
    [1, 3],
    [2, 1],
  ] as const) {
    written[thermostatAttribute(x, y, "requestWrite")] = "true";
  }
  return written;
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 16);
}
