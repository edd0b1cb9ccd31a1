import { problemOf } from "./page-parts.ts";

/** Letters within this time are searched together. */
const togetherMs = 150;
const answerWithinMs = 5_000;

/** Ctrl-K, or Command-K, opens a dialog that finds what the search page finds. */
export function openJumpByKey(): void {
  const dialog = document.getElementById("jump");
  const field = document.getElementById("jump-text");
  const found = document.getElementById("jump-found");
  if (!(dialog instanceof HTMLDialogElement) || !(field instanceof HTMLInputElement) || found === null) return;
  let latest = 0;
  let shownText = "";

  const look = async (wanted: string, number: number) => {
    const content = wanted === "" ? [] : await hitsOf(field.form!, wanted);
    if (number !== latest) return;
    shownText = wanted;
    found.replaceChildren(...content);
  };

  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    if (dialog.open) return dialog.close();
    dialog.showModal();
    field.select();
  });
  field.addEventListener("input", () => {
    const number = ++latest;
    setTimeout(() => {
      if (number === latest) void look(field.value.trim(), number);
    }, togetherMs);
  });
  field.form!.addEventListener("submit", (event) => {
    const first = shownText === field.value.trim() ? found.querySelector("a") : null;
    if (first === null) return;
    event.preventDefault();
    location.assign(first.href);
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const stops = [field, ...found.querySelectorAll("a")];
    const at = stops.indexOf(document.activeElement as HTMLAnchorElement);
    const next = stops[at + (event.key === "ArrowDown" ? 1 : -1)];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  });
}

/** What the search page shows for these words, or why it shows nothing. */
async function hitsOf(form: HTMLFormElement, wanted: string): Promise<(Node | string)[]> {
  const address = new URL(form.action);
  for (const [name, value] of new FormData(form)) address.searchParams.set(name, String(value));
  address.searchParams.set("q", wanted);
  address.searchParams.set("parts", "found");
  try {
    const signal = AbortSignal.timeout(answerWithinMs);
    const answer = await fetch(address, { headers: { accept: "text/html" }, redirect: "error", signal });
    if (!answer.ok) return [problemOf(answer.status).sentence];
    const shown = new DOMParser().parseFromString(await answer.text(), "text/html");
    return [...(shown.querySelector("section")?.childNodes ?? [])];
  } catch {
    return ["The service does not answer."];
  }
}
