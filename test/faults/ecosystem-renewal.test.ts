import { describe, it } from "node:test";
import { renewedEcosystems, renewLinks } from "../federation/renewed-links.ts";

const links = Number(process.env.LINKS ?? 1_000);
const wanted = process.env.ECOSYSTEM ?? "";

for (const [name, ecosystem] of Object.entries(renewedEcosystems)) {
  if (!name.toLowerCase().includes(wanted.toLowerCase())) continue;
  describe(`${links} links to ${name} whose tokens last a minute (LINKS=n chooses another number)`, () => {
    it(
      "are all live after ten minutes on three nodes, though nodes are killed, and no wrong token is presented",
      {
        timeout: 10_800_000,
      },
      (t) => renewLinks(t, ecosystem, links),
    );
  });
}
