/** What this browser remembers under a name; `null` if that is nothing, or if the browser keeps nothing for this page. */
export function stored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Has this browser remember a text under a name, if it keeps anything for this page. */
export function store(name: string, text: string): void {
  try {
    localStorage.setItem(name, text);
  } catch {
    // Storage is switched off or full: the choice lasts as long as the page is open.
  }
}
