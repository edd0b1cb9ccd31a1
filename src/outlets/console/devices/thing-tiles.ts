import type { Html } from "../../../web/html.ts";
import type { PageContext } from "../console-page.ts";
import { alarmTile } from "../tiles/alarm-tile.ts";
import { commandButtons, stoppedButtons } from "../tiles/console-button.ts";
import { deviceTile } from "../tiles/device-tile.ts";
import type { ShownThing } from "../tiles/shown-thing.ts";
import { thermostatTile } from "../tiles/thermostat-tile.ts";

/** A thing as `home things` shows it. */
export interface ListedThing extends ShownThing {
  readonly deviceId: number;
  readonly maker: string | null;
  readonly model: string | null;
  readonly source: string;
  readonly goneTime: number | null;
  readonly stale: boolean;
  readonly confirmedTime: number | null;
}

/** The tiles of things with their buttons. A viewer and a state that is not current have none that can be pressed. */
export function thingTiles(things: readonly ListedThing[], userId: number, here: string, { operator }: PageContext) {
  const isAway = things.some(({ traits: { presence } }) => presence?.state.state?.value === "away");
  return things
    .filter(({ kind }) => kind !== "home")
    .map((thing): Html => {
      const asOfMs = thing.stale ? (thing.confirmedTime ?? 0) : undefined;
      const isStopped = asOfMs !== undefined || operator.role === "viewer";
      const button = isStopped ? stoppedButtons(`${thing.thingId}-name`) : commandButtons(userId, here);
      const tile = { thing, receipt: undefined, button, asOfMs };
      if (thing.kind === "alarm") return alarmTile(thing, asOfMs);
      return thing.kind === "thermostat" ? thermostatTile({ ...tile, isRefused: isAway }) : deviceTile(tile);
    });
}
