import type { UserId } from "../../../src/model/ids.ts";
import type { LinkRef } from "../../../src/store/groups/group-tables.ts";
import { plant, replace } from "./plant.ts";

const module = () => import("../../../src/store/groups/shared-reads.ts");

/** Any time will do: a commit never goes back behind the device's last time. */
const someMs = 1_700_000_000_000;

export const groupPlants = [
  plant(
    "group-no-fence",
    "a member of a group commits although its node lost the link",
    replace(module, {
      SharedReads: (original) =>
        class extends original {
          override async holdLink(link: LinkRef): Promise<boolean> {
            await super.holdLink(link);
            return true;
          }
        },
    }),
  ),
  plant(
    "group-no-lock",
    "a member of a group commits although another transaction holds the user's lock",
    replace(module, {
      SharedReads: (original) =>
        class extends original {
          override async lockUser(id: UserId): Promise<number> {
            return (await super.lockUser(id)) ?? someMs;
          }
        },
    }),
  ),
];
