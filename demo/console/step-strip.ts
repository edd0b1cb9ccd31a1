import { iconOf } from "../../src/outlets/console/tiles/icons.ts";
import { type Html, html } from "../../src/web/html.ts";
import type { DemoEcosystem } from "../ecosystems/ecosystem.ts";
import type { StepNumber } from "./step-progress.ts";

export interface StripParts {
  /** Whether somebody is home. */
  readonly isHome: boolean;
  readonly done: ReadonlySet<StepNumber>;
  readonly ecosystem: Pick<DemoEcosystem, "walk">;
  /** A command that switches the lamp, with the demo's enterprise access token. */
  readonly curl: string;
}

interface Step {
  readonly number: StepNumber;
  readonly title: string;
  readonly words: Html;
}

/** Four things to try; each is checked off when it has happened. */
export function stepStrip({ isHome, done, ecosystem, curl }: StripParts): Html {
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
  const list = html`<ol class="walk">${steps.map(({ number, title, words }) => {
    const isDone = done.has(number);
    return html`<li class="${isDone ? "is-done" : ""}${number === next ? " is-next" : ""}" id="step-${number}"><span class="number">${isDone ? iconOf("check") : number}</span><div><h3>${title}${isDone ? html`<span class="small"> done</span>` : undefined}</h3><p>${words}</p></div></li>`;
  })}</ol>
<div class="command"><pre tabindex="0"><code id="curl">${curl}</code></pre><button type="button" class="quiet" data-copies="curl">Copy</button></div>`;
  if (next !== undefined) return html`<h2>Four steps to begin with</h2>${list}`;
  return html`<details id="walked"><summary>${iconOf("check")} Four steps to begin with: all done</summary>${list}</details>`;
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
