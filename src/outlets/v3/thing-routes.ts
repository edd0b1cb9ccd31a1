import type { ReadThing } from "../../devices/read-thing.ts";
import type { Federation } from "../../federation/federation.ts";
import type { Freshness } from "../../federation/freshness.ts";
import { thingKinds } from "../../home/thing.ts";
import { jsonAnswer } from "../../http/answer/answer.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import type { Principal } from "../../identity/principal.ts";
import { BadParameter } from "../../model/errors.ts";
import type { DeviceId } from "../../model/ids.ts";
import { ownSource } from "../../own-things/own-things.ts";
import type { ThingPlace, ThingReading } from "../../own-things/thing-reading.ts";
import type { Cursors } from "./cursor.ts";
import { thingBody } from "./thing-body.ts";
import { getThing, listThings } from "./thing-descriptions.ts";
import { singleValue, timeOf } from "./v3-parameters.ts";

export interface ThingRouteParts {
  readonly things: ThingReading;
  readonly federation: Pick<Federation, "thingFreshnessOfEach">;
  readonly cursors: { readonly things: Cursors<ThingPlace> };
}

/** The store holds what the company has written last, so that nothing needs to confirm it. */
const ownFreshness: Freshness = { isPresent: true, isStale: false, confirmedTimeMs: null };

/** Things (docs/interface.md, Things). Each call is limited to the caller's access scope. */
export function thingRoutes({ things, federation, cursors }: ThingRouteParts): readonly Route[] {
  const freshnessOf = async (read: readonly ReadThing[]): Promise<ReadonlyMap<DeviceId, Freshness>> => {
    const [own, linked] = [true, false].map((isOwn) => read.filter(({ source }) => (source === ownSource) === isOwn));
    return new Map([
      ...(linked!.length > 0 ? await federation.thingFreshnessOfEach(linked!) : []),
      ...own!.map(({ deviceId }) => [deviceId, ownFreshness] as const),
    ]);
  };
  return [
    {
      methods: ["GET"],
      path: "/v3/things",
      access: "bearer",
      errors: "standard",
      scopes: ["devices:read"],
      description: listThings,
      async answer(incoming, caller) {
        const page = await things.page(caller, pageStartOf(incoming, caller, cursors.things));
        const freshness = await freshnessOf(page.things);
        return jsonAnswer(200, {
          things: page.things.map((thing) => thingBody(thing, freshness.get(thing.deviceId), caller)),
          ...(page.next && { cursor: cursors.things.write(caller, page.next) }),
        });
      },
    },
    {
      methods: ["GET"],
      path: "/v3/things/:thingId",
      access: "bearer",
      errors: "standard",
      scopes: ["devices:read"],
      description: getThing,
      async answer(incoming, caller) {
        const sinceMs = timeOf(incoming, "since");
        const thing = await things.find(caller, incoming.pathParameters.thingId ?? "");
        const freshness = await freshnessOf([thing]);
        return jsonAnswer(200, thingBody(thing, freshness.get(thing.deviceId), caller, sinceMs));
      },
    },
  ];
}

const filters = ["kind", "room", "source"] as const;

/** The start of the page. A cursor holds its filter, so a different filter beside it is refused as a mistake. */
function pageStartOf(incoming: Incoming, caller: Principal, cursors: Cursors<ThingPlace>): ThingPlace {
  const cursor = singleValue(incoming, "cursor");
  const filter = Object.fromEntries(filters.map((name) => [name, singleValue(incoming, name)]));
  const { kind } = filter;
  if (kind !== undefined && !thingKinds.some((known) => known === kind)) {
    throw new BadParameter("kind", `The parameter kind must be one of: ${thingKinds.join(", ")}.`);
  }
  if (cursor === undefined) return { afterDevice: 0, afterThing: "", ...filter };
  const place = cursors.read(caller, cursor);
  for (const name of filters) {
    if (filter[name] !== undefined && filter[name] !== place[name]) {
      throw new BadParameter(name, `The parameter ${name} must be the cursor's, or left out.`);
    }
  }
  return place;
}
