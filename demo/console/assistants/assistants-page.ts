import type { SimulatedAssistant } from "../../../simulator/assistants/assistant.ts";
import { Busy } from "../../../simulator/assistants/conversation.ts";
import { type AssistantKind, assistantKinds } from "../../../src/assistants/assistant.ts";
import type { AddedPage } from "../../../src/outlets/console/console-additions.ts";
import { type Html, html } from "../../../src/web/html.ts";
import { hiddenFields } from "../../../src/web/page.ts";
import { leftOut, leftOutValues, thingIdOf } from "../../assistants/left-out.ts";
import { type HouseThing, readThings } from "../house-view.ts";
import type { OpenDemo } from "../open-demo.ts";
import type { AssistantButton } from "./assistant-button.ts";
import { assistantStyle } from "./assistant-style.ts";
import { deviceList } from "./device-list.ts";
import { exchangeList } from "./exchange-list.ts";
import { houseNow } from "./house-now.ts";
import { reportList } from "./report-list.ts";
import { talk } from "./talk.ts";

const path = "/simulated-assistants";
const addressOf = (kind: AssistantKind) => `/console${path}?kind=${kind}`;
const readKind = (text = "") => assistantKinds.find((kind) => kind === text) ?? "alexa";

/** A page of the demo: talk to a simulated Alexa or Google Home, and see its devices and the service's reports to it. */
export function assistantsPage(opened: () => OpenDemo | undefined): AddedPage {
  return {
    path,
    title: "Simulated assistants",
    navigationLabel: "Simulated assistants",
    subject: "deployment",
    query: ["kind"],
    refreshOn: ["attribute", "thing", "thingCommand", "link", "device"],
    // A report to an assistant leaves no log entry, so the page reads again by itself.
    readEverySeconds: 2,
    style: assistantStyle,
    async render({ call, parameter, operator }) {
      const demo = opened();
      const kind = readKind(parameter("kind"));
      if (demo === undefined) return partsOf({ talk: html`<p>The house is being prepared.</p>` });
      const assistant = demo.assistants[kind];
      const { title, exchanges, reports, problem } = assistant;
      const things = await readThings(call, String(demo.house.access.userId));
      const fields = hiddenFields({ kind });
      const disabled = operator.role === "viewer" ? html` disabled title="Your role may only look."` : undefined;
      const button: AssistantButton = (words, act, id = act) =>
        html`<form class="act" method="post" action="/console${path}" data-quick>${fields}<button id="${id}" name="act" value="${act}"${disabled}>${words}</button></form>`;
      return partsOf({
        choice: choiceOf(demo, kind),
        talk: talk({
          title,
          fields,
          path: `/console${path}`,
          examples: assistant.examples(),
          button,
          disabled,
          problem,
        }),
        house: houseNow(things),
        exchanges: exchangeList(title, exchanges),
        reports: reportList(title, reports),
        devices: await knownDevices(demo, kind, things, button),
      });
    },
    async act(form) {
      const demo = opened();
      if (demo === undefined) return { refusal: "The house is being prepared." };
      const kind = readKind(form("kind"));
      try {
        const isKnown = await act(demo.assistants[kind], form("act"), form("sentence"));
        return isKnown ? { to: addressOf(kind) } : { refusal: "The page has no such button." };
      } catch (error) {
        if (error instanceof Busy) return { refusal: error.message };
        throw error;
      }
    },
  };
}

type AssistantParts = Partial<Record<"choice" | "talk" | "house" | "exchanges" | "reports" | "devices", Html>>;

/** Names every part, also empty ones: an open page rereads only the parts that it was first rendered with. */
function partsOf({ choice, talk: talking, house, exchanges, reports, devices }: AssistantParts) {
  return { choice, talk: talking, house, exchanges, reports, devices };
}

function choiceOf({ assistants }: OpenDemo, chosen: AssistantKind): Html {
  const links = assistantKinds.map((kind) => {
    const current = kind === chosen ? html` aria-current="page"` : undefined;
    return html`<a class="button" href="${addressOf(kind)}"${current}>${assistants[kind].title}</a>`;
  });
  return html`<nav class="asks" aria-label="Assistants">${links}</nav>`;
}

async function knownDevices(
  { assistants, house, service }: OpenDemo,
  kind: AssistantKind,
  things: readonly HouseThing[],
  button: AssistantButton,
): Promise<Html> {
  const { title, problem } = assistants[kind];
  const devices = assistants[kind].devices();
  const all = await service.parts.assistants.homes.all(house.access.userId);
  const fromGoogle = new Set(all.filter(({ isGoogles }) => isGoogles).map(({ thingId }) => thingId));
  const rooms = new Map(things.map(({ thingId, room }) => [thingId, room ?? undefined]));
  return deviceList({
    title,
    devices: devices.map((device) => ({ ...device, room: device.room ?? rooms.get(thingIdOf(device.id)) })),
    leftOut: leftOut({ kind, title, things, known: devices.map(({ id }) => id), fromGoogle }),
    leftOutValues: leftOutValues[kind],
    roomsFrom: kind === "alexa" ? "Alexa is not told rooms. The rooms here are those of /v3." : undefined,
    button,
    isCurrent: problem === undefined,
  });
}

/** Does what a button of the page asks for. Returns false if there is no such button. */
async function act(assistant: SimulatedAssistant, action: string, typed: string): Promise<boolean> {
  const [, example] = /^say:(.*)$/.exec(action) ?? [];
  if (action === "discover") await assistant.discover();
  else if (action === "say") await assistant.say(typed.trim());
  else if (example !== undefined) await assistant.say(example);
  else if (action === "link") await assistant.link();
  else return false;
  return true;
}
