import { groupIn, idIn } from "../../home/reported-things.ts";
import type { ComparedAccount } from "../connector.ts";
import { accessIn } from "./address.ts";

/** An instance has its address, or after a move a thing in common. */
export function isSameInstance(linked: ComparedAccount, found: ComparedAccount): boolean {
  const address = addressOf(found);
  if (address !== undefined && address === addressOf(linked)) return true;
  return [...found.keys].some((key) => isOfOneInstance(key) && linked.keys.has(key));
}

function addressOf({ callToken = "" }: ComparedAccount): string | undefined {
  return accessIn(callToken)?.url.href;
}

/** Registry ids are random. All instances have the same structure id, and may have the same entity ids (with a dot). */
function isOfOneInstance(key: string): boolean {
  return groupIn(key) !== "structure" && !idIn(key).includes(".");
}
