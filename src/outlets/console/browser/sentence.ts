/**
 * Writes what a form says as a sentence while it is filled in. Each field with `data-says` adds its words, in which `%`
 * stands for what is chosen or typed. A select with `data-chooses` shows the form anew when another value is chosen.
 */
export function followSentence(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-sentence]");
  const shown = form?.querySelector("output");
  if (!form || !shown) return;
  const write = () => {
    shown.textContent = sentenceOf(form);
  };
  form.addEventListener("input", write);
  form.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLSelectElement) || target.dataset.chooses === undefined) return;
    form.requestSubmit(document.getElementById(target.dataset.chooses));
  });
  write();
}

/** Nothing for the choice that stands for none. */
function chosenWords({ selectedOptions: [chosen] }: HTMLSelectElement): string {
  if (chosen === undefined || chosen.value === "") return "";
  return chosen.dataset.said ?? chosen.text;
}

function sentenceOf(form: HTMLFormElement): string {
  const words = [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>("[data-says]")].flatMap((field) => {
    const value = field instanceof HTMLSelectElement ? chosenWords(field) : field.value;
    // What belongs to a choice that is not taken is not visible.
    if (field.offsetParent === null) return [];
    return (field.dataset.says ?? "").replace("%", () => isolated(value.trim() || "…"));
  });
  return `${words.join(" ")}.`;
}

/** A name with characters of another direction does not turn the rest of the sentence round. */
function isolated(words: string): string {
  return /^[\x20-\x7e]*$/.test(words) ? words : `\u2068${words}\u2069`;
}
