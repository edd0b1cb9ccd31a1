import { describe, it } from "node:test";
import { rounds } from "../set-up/extent.ts";
import { renewedEcosystems, renewLinks } from "./renewed-links.ts";

/** `npm run faults -- ecosystem-renewal` runs the large figure. */
const links = rounds({ all: 30, few: 6 });

for (const [name, ecosystem] of Object.entries(renewedEcosystems)) {
  describe(`links to ${name} whose tokens last a minute`, () => {
    it(
      "are all live after ten minutes on three nodes, though nodes are killed, and no wrong token is presented",
      {
        timeout: 300_000,
      },
      (t) => renewLinks(t, ecosystem, links),
    );
  });
}
