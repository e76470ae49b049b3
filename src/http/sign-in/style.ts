/** The style of all pages. The content security policy names its digest, so it has no inserted text. */
export const STYLE = `
:root { color-scheme: light dark; --ground: #f2f4f7; --paper: #fff; --edge: #d9dee5; --ink: #1b2027; --soft: #4c5561; --line: #87909c; --accent: #0a4f98; --accent-hover: #083f7a; --on-accent: #fff; --bad: #8f1218; --on-bad: #fdf0f0; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #12161b; --paper: #1c2128; --edge: #333b46; --ink: #e9ecf0; --soft: #b4bdc8; --line: #8d96a1; --accent: #8ec5ff; --accent-hover: #b5d9ff; --on-accent: #0b1a29; --bad: #ffb9b6; --on-bad: #33201f; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; -webkit-text-size-adjust: 100%; }
main { width: 100%; max-width: 25rem; padding: 2rem; background: var(--paper); border: 1px solid var(--edge); border-radius: .75rem; box-shadow: 0 1px 2px rgb(16 24 40 / .06), 0 12px 32px rgb(16 24 40 / .08); }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; }
p { margin: .375rem 0 0; overflow-wrap: anywhere; color: var(--soft); }
strong { color: var(--ink); font-weight: 600; }
.product { display: flex; align-items: center; gap: .625rem; margin: 0 0 1.5rem; color: var(--ink); font-weight: 600; line-height: 1.25; }
.product svg { flex: none; width: 1.75rem; height: 1.75rem; }
.product rect { fill: var(--accent); }
.product path { stroke: var(--on-accent); }
form { margin-top: 1.5rem; }
label { display: block; margin: 1.25rem 0 .375rem; font-weight: 600; font-size: .9375rem; }
input { width: 100%; padding: .5625rem .75rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .375rem; }
input:hover { border-color: var(--ink); }
input[aria-invalid] { border-color: var(--bad); }
button, .action a { display: block; width: 100%; margin-top: 1.75rem; padding: .6875rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none; color: var(--on-accent); background: var(--accent); border: 1px solid transparent; border-radius: .375rem; cursor: pointer; }
button:hover, .action a:hover { background: var(--accent-hover); }
input[type=hidden] + button { margin-top: 0; }
input:focus-visible, button:focus-visible, a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
button.second { margin-top: .75rem; color: var(--accent); background: transparent; border-color: var(--line); }
button.second:hover { background: var(--ground); }
ul { margin: .5rem 0 0; padding-left: 1.25rem; }
ul + p { margin-top: 1rem; }
form + p { margin-top: 1.75rem; padding-top: 1.25rem; border-top: 1px solid var(--edge); }
.code { font: 600 1.75rem/1.25 ui-monospace, monospace; letter-spacing: .08em; text-transform: uppercase; }
div.code { margin-top: 1.25rem; color: var(--ink); }
.warning { margin-top: 1.25rem; padding: .625rem .75rem; color: var(--ink); background: var(--ground); border-left: .25rem solid var(--line); border-radius: .25rem; }
.choice { display: flex; gap: .5rem; align-items: center; font-weight: 400; }
.choice input { width: 1.125rem; height: 1.125rem; margin: 0; }
a { color: var(--accent); }
[role=alert] { margin: 1.25rem 0; padding: .625rem .75rem; color: var(--bad); background: var(--on-bad); border-left: .25rem solid; border-radius: .25rem; }
[role=alert] p { margin: 0; color: inherit; }
@media (forced-colors: active) {
  button, .action a { color: ButtonText; background: ButtonFace; border-color: ButtonText; }
}
@media (max-width: 28rem) {
  body { padding: 0; place-items: start center; background: var(--paper); }
  main { max-width: none; padding: 2rem 1.25rem; border: 0; border-radius: 0; box-shadow: none; }
}
`;

const GATE =
  '<rect width="16" height="16" rx="3.5" fill="#0a4f98"/><path d="M4.5 12.5V8a3.5 3.5 0 0 1 7 0v4.5" fill="none" stroke="#fff" stroke-width="2"/>';

/** A gate, as an SVG to stand in a page. The style has its colours. */
export const MARK = `<svg viewBox="0 0 16 16" aria-hidden="true">${GATE}</svg>`;

/** The gate as the address of an icon. */
export const ICON = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${GATE}</svg>`)}`;
