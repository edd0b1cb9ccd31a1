import { resolve } from "node:path";
import { BreezewayError } from "../../sdk/src/index.ts";
import { NotFound } from "../../src/model/errors.ts";
import type { AddedPage } from "../../src/outlets/console/console-additions.ts";
import type { PageContext } from "../../src/outlets/console/console-page.ts";
import { rooms, type ShownHome } from "../../src/outlets/console/pages/home.ts";
import { type Html, html } from "../../src/web/html.ts";
import { hiddenFields } from "../../src/web/page.ts";
import { shellQuoted } from "../banner.ts";
import { readHouse } from "./house-view.ts";
import { lampCard } from "./lamp-card.ts";
import type { OpenDemo } from "./open-demo.ts";
import { simulatorStyle } from "./simulator-style.ts";
import { stepStrip } from "./step-strip.ts";

const path = "/simulator";

/** The simulated home: four guided steps, buttons that play scenes in it, and the state that the service shows. */
export function simulatorPage(opened: () => OpenDemo | undefined): AddedPage {
  return {
    path,
    title: "Simulator",
    navigationLabel: "Simulator",
    subject: "deployment",
    refreshOn: ["attribute", "thing", "thingCommand", "command", "link", "device", "alert", "thingAlert"],
    style: simulatorStyle,
    async render(context) {
      const demo = opened();
      if (demo === undefined) return partsOf({ walk: html`<p>The house is being prepared.</p>` });
      try {
        return await renderHouse(demo, context);
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
        return partsOf({
          walk: html`<p>The house is not connected any more. Restart the demo to connect it again.</p>`,
        });
      }
    },
    async act(form) {
      const demo = opened();
      if (demo === undefined) return { refusal: "The house is being prepared." };
      const refusal = await playScene(demo, form("act"), form("home"));
      return refusal === undefined ? { to: `/console${path}` } : { refusal };
    },
  };
}

interface SimulatorParts {
  readonly walk: Html;
  readonly scenes?: Html;
  readonly lamp?: Html;
  readonly rooms?: Html;
}

/** Names every part, also empty ones: an open page rereads only the parts that it was first rendered with. */
function partsOf({ walk, scenes, lamp, rooms: tiles }: SimulatorParts) {
  return { walk, scenes, lamp, rooms: tiles };
}

async function renderHouse(demo: OpenDemo, context: PageContext) {
  const { house, ecosystem, service, stepProgress } = demo;
  const view = await readHouse(house, ecosystem, context);
  const done = stepProgress.update(view, ecosystem.lastDepartureMs());
  const { thing, deviceId } = view.lamp;
  const power = thing?.traits.onOff?.state.on?.value === true ? "off" : "on";
  const tokenFile = shellQuoted(resolve(house.access.accessTokenFile));
  const curl = `curl -X PUT ${service.baseUrl}/v3/devices/${deviceId} -H "Authorization: Bearer $(cat ${tokenFile})" -H "Content-Type: application/json" -d '{"power":"${power}"}'`;
  const isHome = view.home.things.some(({ traits: { presence } }) => presence?.state.state?.value === "home");
  return partsOf({
    walk: stepStrip({ isHome, done, ecosystem, curl }),
    scenes: sceneCard(demo, view.home, context),
    lamp: lampCard(view, context),
    rooms: rooms(view.home, context),
  });
}

const presences: Readonly<Record<string, string>> = {
  home: "Somebody is home.",
  away: "Nobody is home.",
  autoAway: "Nobody is home: the thermostats have seen nobody for a while.",
};

/** The scenes of each home, as buttons. */
function sceneCard({ ecosystem }: OpenDemo, { userId, link, things }: ShownHome, { address }: PageContext): Html {
  const homes = things.filter(({ kind }) => kind === "home");
  const here = address(`/homes/${userId}/${encodeURIComponent(link.ecosystem)}`);
  const scenes = (home?: ShownHome["things"][number]) => {
    const { thingId = "", name = null, traits = {}, stale = true } = home ?? {};
    const presence = presences[String(traits.presence?.state.state?.value)];
    return html`<form class="scenes" method="post" action="/console${path}" data-quick>${hiddenFields({ home: thingId })}
${homes.length > 1 ? html`<h3><bdi>${name ?? "Home"}</bdi></h3>` : undefined}
${traits.presence && html`<p>${stale || presence === undefined ? "Whether somebody is home is unknown." : presence}</p>`}
${ecosystem.scenes.map(
  ({ about, buttons }) =>
    html`<div class="buttons" role="group" aria-label="${about}">${buttons.map(([scene, words]) => html`<button name="act" value="${scene}" id="${scene}:${thingId}">${words}</button>`)}</div>`,
)}
</form>`;
  };
  return html`<h2>Let something happen</h2>
${homes.length === 0 ? scenes() : homes.map(scenes)}
<p class="small"><a href="${here}">The home in the console</a> · <a href="${ecosystem.url}">The simulator’s own page</a> · <a href="/docs">API docs</a></p>`;
}

/** Plays a scene in the home with this thing's id; without an id, in the whole account. Returns why it can't be played. */
async function playScene({ house, ecosystem }: OpenDemo, scene: string, thingId: string): Promise<string | undefined> {
  const isKnown = ecosystem.scenes.some(({ buttons }) => buttons.some(([name]) => name === scene));
  if (!isKnown) return "The page has no such button.";
  ecosystem.pauseLife();
  try {
    const name = thingId === "" ? null : (await house.access.byClient.thing(thingId)).name;
    return await ecosystem.playScene(scene, name);
  } catch (error) {
    // Errors of the service and of the simulator have an HTTP status; a programming error has none.
    if (error instanceof BreezewayError || (error instanceof Error && "status" in error)) return error.message;
    throw error;
  }
}
