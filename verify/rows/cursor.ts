import { summaryOf } from "../client/answer-summary.ts";
import { ensure, NotRun } from "../outcome.ts";
import type { Row } from "../row.ts";
import { page } from "./paging.ts";

export const cursor: Row = {
  name: "cursor",
  group: "Users and devices",
  title: "A tampered cursor is refused",
  proves: "A forged cursor gives no access to other data.",
  isEssential: true,
  needs: [],
  after: ["paging", "errors"],
  async run(context) {
    const { cursor: good } = (await page(context)).json;
    if (good === undefined) {
      throw new NotRun(
        "The list has one page only, so there is no cursor to tamper with.",
        "Give a user with more than 100 devices.",
      );
    }
    const { deployment, shared } = context;
    for (const place of [0, Math.floor(good.length / 2)]) {
      const other = good[place] === "A" ? "B" : "A";
      const tampered = good.slice(0, place) + other + good.slice(place + 1);
      const answer = await deployment.v3(
        shared.tokens!.accessToken,
        `devices?${new URLSearchParams({ cursor: tampered })}`,
      );
      ensure(answer.status === 400, () => ({
        seen: `A cursor with one character changed was answered with ${summaryOf(answer)}, not 400.`,
        side: "service",
        next: "Call the service directly; if it accepts such cursors, compare its version with the one you meant to deploy.",
      }));
    }
    return { seen: "Cursors with one character changed were refused." };
  },
};
