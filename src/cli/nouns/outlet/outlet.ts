import type { Noun } from "../../noun.ts";
import { addOutlet } from "./outlet-add.ts";
import { checkOutlet } from "./outlet-check.ts";
import { listOutlets } from "./outlet-list.ts";
import { removeOutlet } from "./outlet-remove.ts";
import { outletDeliveries, resendToOutlet } from "./outlet-reports.ts";
import { showOutlet } from "./outlet-show.ts";
import { tryOutlet } from "./outlet-try.ts";

export const outlet: Noun = {
  name: "outlet",
  alias: "outlets",
  meaning: "connections to voice assistants",
  commands: [
    addOutlet,
    listOutlets,
    showOutlet,
    outletDeliveries,
    resendToOutlet,
    checkOutlet,
    tryOutlet,
    removeOutlet,
  ],
};
