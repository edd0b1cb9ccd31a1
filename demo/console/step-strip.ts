import { iconOf } from "../../src/outlets/console/tiles/icons.ts";
import { type Html, html } from "../../src/web/html.ts";
import type { DemoEcosystem } from "../ecosystems/ecosystem.ts";
import type { HouseView } from "./house-view.ts";
import type { StepNumber } from "./step-progress.ts";

export interface StripParts {
  readonly view: HouseView;
  readonly done: ReadonlySet<StepNumber>;
  readonly ecosystem: Pick<DemoEcosystem, "walk" | "lamp">;
  /** A command that switches the lamp, with the demo's enterprise access token. */
  readonly curl: string;
}

interface Step {
  readonly number: StepNumber;
  readonly title: string;
  readonly words: Html;
}

/** Four things to try; each is checked off when it has happened. */
export function stepStrip({ view, done, ecosystem, curl }: StripParts): Html {
  const isHome = view.attributes.some(({ name, value }) => name === ecosystem.lamp.attribute && value === "home");
  const leave: Step = {
    number: 1,
    title: "Leave home",
    words:
      isHome || done.has(1)
        ? html`Press <b>Leave home</b> and watch the hall lamp: an alert switches it off.`
        : html`Nobody is home just now. Press <b>Come home</b>, then <b>Leave home</b>, and watch the lamp.`,
  };
  const firstSteps = {
    refusal: [leave, ...refusedSteps(isHome, done)],
    smoke: [leave, ...smokeSteps],
    fan: fanSteps,
  };
  const steps: readonly Step[] = [
    ...firstSteps[ecosystem.walk],
    {
      number: 4,
      title: "Be a client yourself",
      words: html`Run this in a terminal and watch the lamp. Its token is an enterprise token: it reaches every user of the tenant.`,
    },
  ];
  const next = steps.find(({ number }) => !done.has(number))?.number;
  return html`<section class="walk" aria-labelledby="walk-name">
<h2 class="out-of-sight" id="walk-name">Four steps to begin with</h2>
<ol data-part id="walk">${steps.map(({ number, title, words }) => {
    const isDone = done.has(number);
    return html`<li class="${isDone ? "is-done" : ""}${number === next ? " is-next" : ""}" id="step-${number}"><span class="number">${isDone ? iconOf("check") : number}</span><div><h3>${title}<span class="out-of-sight">${isDone ? " (done)" : ""}</span></h3><p>${words}</p></div></li>`;
  })}</ol>
<div class="command" data-part id="command"><pre><code id="curl">${curl}</code></pre><button type="button" id="copy" class="needs-script" data-copies="curl">Copy</button></div>
</section>`;
}

/** For an ecosystem that refuses commands while nobody is home. */
function refusedSteps(isHome: boolean, done: ReadonlySet<StepNumber>): readonly Step[] {
  return [
    {
      number: 2,
      title: "Run a fan, and be refused",
      words:
        isHome && done.has(1) && !done.has(2)
          ? html`Somebody is home again. Press <b>Leave home</b>, then <b>Run fan</b>.`
          : html`Press <b>Run fan</b> while nobody is home. The error text is what a client reads.`,
    },
    {
      number: 3,
      title: "Come home, run it again",
      words: html`Press <b>Come home</b>, then <b>Run fan</b>: sent, accepted, confirmed.`,
    },
  ];
}

const smokeSteps: readonly Step[] = [
  {
    number: 2,
    title: "Make smoke",
    words: html`Press <b>Make smoke</b>: the emergency is on this page, on <code>/v3/events</code> and in alerts at once. Then <b>Clear the air</b>.`,
  },
  {
    number: 3,
    title: "Make it warmer",
    words: html`Press <b>Warmer</b>: sent, accepted, and confirmed when the instance shows it.`,
  },
];

/** For an ecosystem that tells neither presence nor smoke. */
const fanSteps: readonly Step[] = [
  {
    number: 1,
    title: "Run a fan",
    words: html`Press <b>Run fan</b>: sent, accepted, confirmed. An alert switches the hall lamp on.`,
  },
  {
    number: 2,
    title: "Stop it",
    words: html`Press <b>Stop fan</b> and watch the lamp: another alert switches it off.`,
  },
  {
    number: 3,
    title: "Be refused",
    words: html`Press <b>Warmer</b> until it is refused: Google accepts five commands a minute. The error text is what a client reads.`,
  },
];
