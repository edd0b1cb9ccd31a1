import { compileFilter, type EventsOf, type ReaderFilter, type ReportUnreadable } from "../client-events.ts";

const keptAtMost = 2_000;

/** LRU cache of compiled filters by webhook. A webhook's filter never changes. */
export class CompiledFilters {
  readonly #compiled = new Map<string, EventsOf>();
  readonly #unreadable: ReportUnreadable;

  constructor(unreadable: ReportUnreadable) {
    this.#unreadable = unreadable;
  }

  of(webhook: ReaderFilter & { readonly id: string }): EventsOf {
    const { id } = webhook;
    const eventsOf = this.#compiled.get(id) ?? compileFilter(webhook, this.#unreadable);
    this.#compiled.delete(id);
    this.#compiled.set(id, eventsOf);
    if (this.#compiled.size > keptAtMost) this.#compiled.delete(this.#compiled.keys().next().value!);
    return eventsOf;
  }
}
