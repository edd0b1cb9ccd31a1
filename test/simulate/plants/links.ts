import type { KeeperParts, LinkKeeper } from "../../../src/federation/keeper.ts";
import type { LaneParts, Mirrored } from "../../../src/federation/lane.ts";
import type { LinkRecordParts } from "../../../src/federation/link-record.ts";
import type { SecondLookParts } from "../../../src/federation/second-look.ts";
import type { Home } from "../../../src/home/home.ts";
import type { DeviceId } from "../../../src/model/ids.ts";
import type { LinkRow } from "../../../src/store/tables/links.ts";
import { withMethods, withTables } from "./changed-parts.ts";
import { plant, replace } from "./plant.ts";

const keeper = () => import("../../../src/federation/keeper.ts");
const record = () => import("../../../src/federation/link-record.ts");
const secondLook = () => import("../../../src/federation/second-look.ts");
const storedLink = () => import("../../../src/federation/stored-link.ts");

/** A record of a link with other parts. */
function withRecordParts(change: (parts: LinkRecordParts) => Partial<LinkRecordParts>) {
  return replace(record, {
    LinkRecord: (original) =>
      class extends original {
        constructor(parts: LinkRecordParts, row: LinkRow) {
          super({ ...parts, ...change(parts) }, row);
        }
      },
  });
}

export const linkPlants = [
  plant(
    "no-reload",
    "the lane believes its memory after a commit whose outcome it doesn't know",
    replace(() => import("../../../src/federation/lane.ts"), {
      Lane: (original) =>
        class extends original {
          constructor(parts: LaneParts, mirrored?: Mirrored) {
            let believed = mirrored;
            const stored: Home[] = [];
            const load = async () => {
              believed ??= await parts.load();
              for (const account of stored.splice(0)) believed = await mirroredAfter(account, believed);
              return believed;
            };
            super(
              {
                ...parts,
                load,
                stored: (account, hasChanged) => {
                  stored.push(account);
                  parts.stored(account, hasChanged);
                },
              },
              mirrored,
            );
          }
        },
    }),
  ),
  plant(
    "followed-twice",
    "a link that is followed already gets a second follower",
    replace(keeper, {
      LinkKeeper: (original) =>
        class extends original {
          readonly #second: LinkKeeper;

          constructor(parts: KeeperParts) {
            super(parts);
            this.#second = new original(parts);
          }

          override adopt(row: LinkRow, mirrored?: Mirrored) {
            if (this.standing(row.deviceId)) this.#second.adopt(row, mirrored);
            else super.adopt(row, mirrored);
          }
        },
    }),
  ),
  plant(
    "taken-up-after-drop",
    "a link that was just dropped is taken up again from a look before that",
    replace(keeper, {
      LinkKeeper: (original) =>
        class extends original {
          #others = 0;

          override async drop(deviceId: DeviceId) {
            await super.drop(deviceId);
            // The keeper remembers 10,000 dropped links: after so many others it has forgotten this one.
            for (let n = 0; n < 10_000; n++) void super.drop(--this.#others as DeviceId);
          }
        },
    }),
  ),
  plant(
    "confirmed-before-written",
    "a confirmation time is stored before the blind interval that ended with it",
    replace(() => import("../../../src/federation/link-supervisor.ts"), {
      LinkSupervisor: (original) =>
        class extends original {
          override get isWritten() {
            return true;
          }
        },
    }),
  ),
  plant(
    "record-gap",
    "a link's state that is entered just after the last one was written is never written",
    withRecordParts((parts) => {
      let writtenMs = Number.NEGATIVE_INFINITY;
      return {
        async write(standing, ended) {
          if (parts.runtime.elapsedMs() - writtenMs > 5) await parts.write(standing, ended);
          writtenMs = parts.runtime.elapsedMs();
        },
      };
    }),
  ),
  plant(
    "blindness-forgotten",
    "a link that is no longer live opens no blind interval",
    withRecordParts((parts) => {
      let wasLive = false;
      return {
        async write(standing, ended) {
          await parts.write(wasLive ? { ...standing, blindness: null } : standing, wasLive ? [] : ended);
          wasLive ||= standing.state === "live";
        },
      };
    }),
  ),
  plant(
    "every-read-is-proof",
    "a read that finds changes proves that the stream has sent them",
    replace(() => import("../../../src/federation/stream-coverage.ts"), {
      StreamCoverage: (original) =>
        class extends original {
          override readStored(receivedMs: number) {
            super.linkBecameLive(receivedMs);
          }
        },
    }),
  ),
  plant(
    "ended-too-soon",
    "a blind interval ends at the earliest that the store's time can have been",
    withRecordParts(() => ({ uncertaintyMs: () => 0 })),
  ),
  plant(
    "passed-over-at-once",
    "what was passed over is recorded though the next owner would count it again",
    replace(record, {
      LinkRecord: (original) =>
        class extends original {
          override snapshotDropped(sinceMs: number, cause: string) {
            super.snapshotDropped(sinceMs, cause);
            this.confirmed(Number.POSITIVE_INFINITY);
          }
        },
    }),
  ),
  plant(
    "blind-twice",
    "the next owner of a link counts as blind what an earlier interval has counted",
    replace(storedLink, {
      writeStanding:
        (original) =>
        (store, ...rest) =>
          original(
            withTables(store, () => ({ links: { confirm: async () => undefined } })),
            ...rest,
          ),
    }),
  ),
  plant(
    "load-without-lock",
    "the lane reads back what is stored while a commit of its own may still be on its way",
    replace(storedLink, {
      loadMirrored: (original) => (store, link) =>
        original(
          withTables(store, () => ({ users: { lock: async () => 0 } })),
          link,
        ),
    }),
  ),
  plant(
    "no-second-look",
    "a quiet or incomplete stream is never looked at a second time",
    replace(secondLook, {
      SecondLook: (original) =>
        class extends original {
          constructor(parts: SecondLookParts) {
            super({ ...parts, runtime: { ...parts.runtime, after: () => () => undefined } });
          }
        },
    }),
  ),
  plant(
    "late-read-wins",
    "a second look that the stream has overtaken is still taken for the newest",
    replace(secondLook, {
      SecondLook: (original) =>
        class extends original {
          readonly #stream: { snapshots: number };

          constructor(parts: SecondLookParts) {
            const stream = { snapshots: 0 };
            const { connector, received } = parts;
            const read: typeof connector.read = async (token, signal) => {
              const before = stream.snapshots;
              const account = await connector.read(token, signal);
              const take = () => (signal.aborted ? undefined : received(account, "checks"));
              // After the account that the second look itself makes of this read.
              if (stream.snapshots !== before) parts.runtime.after(1, take);
              return account;
            };
            super({ ...parts, connector: withMethods(connector, { read }) });
            this.#stream = stream;
          }

          override streamSent(account: Home | undefined) {
            this.#stream.snapshots += 1;
            super.streamSent(account);
          }
        },
    }),
  ),
];

async function mirroredAfter(account: Home, before: Mirrored): Promise<Mirrored> {
  const { assignIndexes } = await import("../../../src/virtual-device/index-map.ts");
  const { mirror } = await import("../../../src/virtual-device/mirror.ts");
  const { packValues, unpackValues } = await import("../../../src/virtual-device/attribute-values.ts");
  const { encodeNotices } = await import("../../../src/federation/notices.ts");
  const { map, overLimit } = assignIndexes(before.indexMap, account);
  return {
    indexMap: map,
    notices: encodeNotices(overLimit, account, map),
    values: packValues(mirror(account, map, unpackValues(before.values))),
    things: before.things,
  };
}
