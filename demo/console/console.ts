import { join, resolve } from "node:path";
import { BreezewayError, ServiceError } from "../../sdk/src/index.ts";
import { type Answer, pageAnswer, redirectAnswer } from "../../src/http/answer/answer.ts";
import type { Incoming } from "../../src/http/request/incoming.ts";
import type { GuestRoute } from "../../src/http/routes.ts";
import type { Parts } from "../../src/service/parts.ts";
import type { DemoEcosystem } from "../ecosystems/ecosystem.ts";
import type { House } from "../house.ts";
import { executeAction } from "./actions.ts";
import { type HouseView, readHouse } from "./house-view.ts";
import { housePage, messagePage } from "./page.ts";
import { isSame, sessionsOn } from "./session.ts";
import { type StepProgress, stepProgressIn } from "./step-progress.ts";

export interface ConsoleParts {
  readonly folder: string;
  readonly ecosystem: DemoEcosystem;
  readonly version: string;
}

/** The demo's page: routes that only the demo adds to the service. */
export interface Console {
  routes(parts: Parts): readonly GuestRoute[];
  /** Until this call the routes answer 503, because there is no house yet. */
  open(house: House, baseUrl: string): void;
  /** A new link that opens the console once. */
  newLink(): string;
}

interface OpenConsole {
  readonly house: House;
  readonly baseUrl: string;
  readonly port: number;
  readonly stepProgress: StepProgress;
}

/** The page treats a stream as dead after two missed heartbeats (live.js). */
const heartbeatSeconds = 2;
const streamHeaders = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };

export function demoConsole({ folder, ecosystem, version }: ConsoleParts): Console {
  let opened: OpenConsole | undefined;
  const sessions = sessionsOn(folder);
  const firstValue = (pairs: Incoming["query"], name: string) => pairs.find(([key]) => key === name)?.[1];

  const houseAnswer = async (status: number, incoming: Incoming, notice?: string): Promise<Answer> => {
    const { house, baseUrl, stepProgress } = opened!;
    const nowMs = Date.now();
    let view: HouseView;
    try {
      view = await readHouse(house, nowMs);
    } catch (error) {
      if (!(error instanceof BreezewayError)) throw error;
      const isUnavailable = error instanceof ServiceError && error.status === 503;
      return pageAnswer(isUnavailable ? 503 : 502, messagePage("Unknown", error.message));
    }
    const page = housePage({
      view,
      done: stepProgress.update(view, ecosystem.leftMs()),
      formToken: sessions.formToken,
      baseUrl,
      ecosystem,
      accessTokenFile: resolve(house.access.accessTokenFile),
      version,
      nowMs,
      notice,
      filter: firstValue(incoming.query, "filter"),
    });
    return pageAnswer(status, page);
  };

  /** The answer to a browser without access to the console; undefined if the browser has access. */
  const refusal = (incoming: Incoming): Answer | undefined => {
    if (opened === undefined) return pageAnswer(503, messagePage("Not yet", "The house is being prepared."));
    if (sessions.isOpen(incoming.cookies, opened.port)) return undefined;
    return pageAnswer(403, messagePage("Open the link that the terminal shows", howToOpen));
  };

  return {
    routes: ({ events }) => [
      ...["/", "/demo"].map(
        (path): GuestRoute => ({
          methods: ["GET"],
          path,
          access: "public",
          errors: "page",
          answer: async () => redirectAnswer(302, "/demo/"),
        }),
      ),
      {
        methods: ["GET"],
        path: "/demo/",
        access: "public",
        errors: "page",
        async answer(incoming) {
          const claim = firstValue(incoming.query, "claim");
          if (claim !== undefined && opened && sessions.spend(claim)) {
            return redirectAnswer(303, "/demo/", { "set-cookie": sessions.cookie(opened.port) });
          }
          const refused = refusal(incoming);
          if (refused) return refused;
          // A browser that already has access and opens the link again is redirected to the address without the claim.
          return claim === undefined ? houseAnswer(200, incoming) : redirectAnswer(303, "/demo/");
        },
      },
      {
        methods: ["GET"],
        isStream: true,
        path: "/demo/events",
        access: "public",
        errors: "page",
        async answer(incoming) {
          const refused = refusal(incoming);
          if (refused) return refused;
          const accessScope = { kind: "user", userId: opened!.house.access.userId } as const;
          const filter = { deviceIds: [], attributes: [], hearsThings: true };
          const beginning = await events.beginning(incoming.lastEventId || firstValue(incoming.query, "lastEventId"));
          const untilMs = Number.POSITIVE_INFINITY;
          const request = { clientId: "console", accessScope, filter, beginning, untilMs, heartbeatSeconds };
          return { status: 200, headers: streamHeaders, stream: (writer) => events.follow(request, writer) };
        },
      },
      {
        methods: ["POST"],
        path: "/demo/do",
        access: "public",
        errors: "page",
        async answer(incoming) {
          const refused = refusal(incoming);
          if (refused) return refused;
          const form = incoming.body.kind === "form" ? incoming.body.pairs : [];
          if (!isSame(firstValue(form, "form") ?? "", sessions.formToken)) {
            return pageAnswer(
              403,
              messagePage("Not from this page", "Go back to the page and press the button there."),
            );
          }
          const problem = await executeAction({ ...opened!, ecosystem }, firstValue(form, "act") ?? "");
          return problem === undefined ? redirectAnswer(303, "/demo/") : houseAnswer(409, incoming, problem);
        },
      },
    ],
    open(house, baseUrl) {
      opened = {
        house,
        baseUrl,
        port: Number(new URL(baseUrl).port || 80),
        stepProgress: stepProgressIn(join(folder, "demo-steps"), Date.now(), ecosystem),
      };
    },
    newLink: () => `${opened?.baseUrl}/demo/?claim=${sessions.newClaim()}`,
  };
}

const howToOpen =
  "The link to the console opens once, within 30 minutes, and stays open in the browser that opened it. " +
  "Press Enter in the terminal where the demo runs, and it prints a new one; so does each start.";
