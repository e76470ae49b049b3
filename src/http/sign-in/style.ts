/** The style of all pages. The content security policy names its digest, so it has no inserted text. */
export const STYLE = `
:root { color-scheme: light dark; --line: #8a9099; --accent: #0b5cad; --on-accent: #fff; --bad: #a4161a; --paper: #fff; --ground: #f3f5f7; --ink: #1d2127; }
@media (prefers-color-scheme: dark) {
  :root { --line: #8d96a1; --accent: #8ec5ff; --on-accent: #0b1a29; --bad: #ffb3b0; --paper: #1f242b; --ground: #14181d; --ink: #e8ebef; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 24rem; padding: 2rem; background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; }
p { margin: .25rem 0 0; overflow-wrap: anywhere; }
.product { margin: 0 0 1.25rem; font-weight: 600; letter-spacing: .01em; }
label { display: block; margin: 1.25rem 0 .25rem; font-weight: 600; }
input { width: 100%; padding: .5rem .625rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .25rem; }
button { width: 100%; margin-top: 1.75rem; padding: .625rem; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: .25rem; cursor: pointer; }
input:focus-visible, button:focus-visible, a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
button.second { margin-top: .75rem; color: var(--accent); background: transparent; }
ul { margin: .5rem 0 0; padding-left: 1.25rem; }
.code { font: 600 1.75rem/1.25 ui-monospace, monospace; letter-spacing: .08em; text-transform: uppercase; }
p.code { margin-top: 1.25rem; }
.warning { margin-top: 1.25rem; padding-left: .75rem; border-left: 4px solid var(--line); font-weight: 600; }
.choice { display: flex; gap: .5rem; align-items: center; font-weight: 400; }
.choice input { width: 1.125rem; height: 1.125rem; margin: 0; }
a { color: var(--accent); }
[role=alert] + p { margin-top: 1.25rem; }
[role=alert] { margin-top: 1.25rem; padding-left: .75rem; border-left: 4px solid var(--bad); color: var(--bad); }
`;
