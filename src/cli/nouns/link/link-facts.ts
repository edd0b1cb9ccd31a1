import type { ShownLink } from "../../../federation/link-overview.ts";
import type { UserId } from "../../../model/ids.ts";
import type { AdminAct } from "../../administration/admin-command.ts";
import { secondOf } from "../../devices/times.ts";
import { id, optional } from "../../input.ts";
import { chosenTenant } from "../tenant-option.ts";

/** A link in the JSON output of commands. If it is not live, all fields are as of `confirmedTime`. */
export function linkAnswer({ ecosystem, deviceId, state, reason, confirmedMs }: ShownLink) {
  return { ecosystem, deviceId, state, reason, stale: state !== "live", confirmedTime: confirmedMs };
}

/** `live`, `not followed since 2026-01-31T12:00:00Z`: the state as text, with its time unless it is current. */
export function linkStateInWords({ state, confirmedTime }: { state: string; confirmedTime: number | null }): string {
  if (state === "live") return "live";
  const time = confirmedTime === null ? "an unknown time" : secondOf(confirmedTime);
  return state === "not_followed" ? `not followed since ${time}` : `${state}, as of ${time}`;
}

/** The states of all links, over all tenants. */
export const linkFacts: AdminAct = {
  name: "link facts",
  async act({ identity, linksOf }, input) {
    const users =
      optional(input, "user") === undefined
        ? await identity.listUsers(await chosenTenant(identity, input))
        : [await identity.findUser(id<UserId>(input, "user"))];
    const links = [];
    for (const { userId, name } of users) {
      for (const link of await linksOf(userId)) links.push({ userId, userName: name, ...linkAnswer(link) });
    }
    return { answer: { links } };
  },
};
