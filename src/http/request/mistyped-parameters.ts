import { BadParameter } from "../../model/errors.ts";
import type { Description } from "../documentation/description.ts";
import type { Pairs } from "./incoming.ts";

/**
 * Refuses a query parameter whose name is almost one of the route's, such as `attributes` for `attribute`: the answer
 * would look as if the parameter had been obeyed. Other unknown parameters are ignored, because clients and proxies add
 * their own (`_=1` against caches). The sentence does not repeat the name that was sent.
 */
export function refuseMistyped(query: Pairs, { parameters = [] }: Pick<Description, "parameters">): void {
  if (query.length === 0) return;
  const names = parameters.filter(({ in: place }) => place === "query").map(({ name }) => name);
  for (const [sent] of query) {
    const intended = names.includes(sent) ? undefined : names.find((name) => isAlmost(sent, name));
    if (intended === undefined) continue;
    throw new BadParameter(
      intended,
      `The query has a parameter whose name is almost ${intended}. This path takes the parameters ${names.join(", ")}.`,
    );
  }
}

/** Names with this many first letters in common are similar: `attr` and `attributeName` are almost `attribute`. */
const alikeLetters = 4;

/** Compared without case and punctuation, so that `device_id`, `DeviceId` and `attribute[]` are found too. */
function isAlmost(sent: string, name: string): boolean {
  const [one, other] = [lettersOf(sent), lettersOf(name)];
  if (one === other) return true;
  const shorter = Math.min(one.length, other.length);
  if (shorter < alikeLetters) return false;
  return one.startsWith(other) || other.startsWith(one) || isOneEditAway(one, other);
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** Whether one letter was added, left out, replaced, or swapped with the next. */
function isOneEditAway(one: string, other: string): boolean {
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  const [rest, otherRest] = [one.slice(start), other.slice(start)];
  return (
    rest.slice(1) === otherRest ||
    rest === otherRest.slice(1) ||
    rest.slice(1) === otherRest.slice(1) ||
    (rest[0] === otherRest[1] && rest[1] === otherRest[0] && rest.slice(2) === otherRest.slice(2))
  );
}
