import type { Beginning } from "../../../src/events/beginning.ts";
import type { ReaderParts } from "../../../src/events/event-reader.ts";
import type { TailedEntry } from "../../../src/store/tables/log.ts";
import { withTables } from "./changed-parts.ts";
import { plant, replace } from "./plant.ts";

const beginnings = () => import("../../../src/events/beginning.ts");
const reader = () => import("../../../src/events/event-reader.ts");

export const eventPlants = [
  plant(
    "resumed-too-late",
    "a reader that comes back goes on one entry too late",
    replace(beginnings, {
      beginningAt: (original) => async (store, lastEventId, heartbeatSeconds) => {
        const { readFrom } = await import("../../../src/events/event-id.ts");
        const beginning = await original(store, lastEventId, heartbeatSeconds);
        if (lastEventId === undefined) return beginning;
        const [next] = await store.read((tx) => tx.log.tail(readFrom(beginning.resumePoint), 1));
        const { epoch } = beginning.resumePoint;
        return next ? { ...beginning, resumePoint: { epoch, position: next.position } } : beginning;
      },
    }),
  ),
  plant(
    "resumed-too-early",
    "a reader that was sent a part of an entry is sent all of it again",
    replace(reader, {
      EventReader: (original) =>
        class extends original {
          constructor(parts: ReaderParts, { resumePoint, frames }: Beginning) {
            super(parts, {
              resumePoint: resumePoint.sentChanges === undefined ? resumePoint : { ...resumePoint, sentChanges: 0 },
              frames,
            });
          }
        },
    }),
  ),
  plant(
    "joined-without-page",
    "a reader that joins the others misses what came while it caught up",
    replace(reader, {
      EventReader: (original) =>
        class extends original {
          #isCatchingUp = false;

          override async catchUp() {
            this.#isCatchingUp = true;
            try {
              return await super.catchUp();
            } finally {
              this.#isCatchingUp = false;
            }
          }

          override framesOf(entries: readonly TailedEntry[]) {
            return this.#isCatchingUp ? super.framesOf(entries) : "";
          }
        },
    }),
  ),
  plant(
    "needless-resync",
    "a reader that comes back after the log was shortened has to begin anew though it missed nothing",
    replace(beginnings, {
      beginningAt:
        (original) =>
        (store, ...rest) =>
          original(
            withTables(store, (tx) => ({
              log: {
                async horizon() {
                  const horizon = await tx.log.horizon();
                  const end = Number.MAX_SAFE_INTEGER;
                  return horizon.id > 0 ? { transaction: end, id: end } : horizon;
                },
              },
            })),
            ...rest,
          ),
    }),
  ),
  plant(
    "heartbeat-ahead",
    "a heartbeat names a place up to which not everything was sent",
    replace(() => import("../../../src/events/frames.ts"), {
      heartbeatFrame:
        (original) =>
        (place, ...rest) => {
          const { transaction, id } = place.position;
          return original({ ...place, position: { transaction: transaction + 1, id: id + 100 } }, ...rest);
        },
    }),
  ),
  plant(
    "end-ahead-of-durable",
    "the log's end is the number of the next transaction, which a crash hands out again",
    replace(() => import("../store/log-rows.ts"), {
      logRows: (original) => (session) => {
        const log = original(session);
        const end = async () => {
          const durable = await log.end();
          const transaction = session.seenBefore();
          return Number.isFinite(transaction) ? { transaction, id: 0 } : durable;
        };
        return { ...log, end };
      },
    }),
  ),
];
