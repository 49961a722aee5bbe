import { script } from './script.ts'

/** The documentation page: reads /openapi.json and needs nothing from anywhere else. */
export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<link rel="icon" href="/favicon.svg">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Model gateway: API</title>
<style>
  :root {
    color-scheme: light dark;
    --line: light-dark(#d8dce3, #333a45); --quiet: light-dark(#5b6472, #9aa4b2); --ground: light-dark(#f6f7f9, #14181e);
    --card: light-dark(#fff, #1b2027); --link: light-dark(#0b5cad, #7ab8ff);
    --get: light-dark(#0b5cad, #7ab8ff); --post: light-dark(#1a7a3e, #6fd195);
    --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  }
  * { box-sizing: border-box; }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 4rem; background: var(--ground); }
  h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
  h2 { font-size: 1.1rem; margin: 2.25rem 0 .75rem; }
  h3 { font-size: .8rem; margin: 1.25rem 0 .25rem; color: var(--quiet); font-weight: 600; }
  a { color: var(--link); }
  details { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; }
  summary { cursor: pointer; padding: .6rem .9rem; display: flex; gap: .25rem .75rem; flex-wrap: wrap; align-items: baseline; list-style: none; }
  summary::-webkit-details-marker { display: none; }
  summary:focus-visible { outline: 2px solid var(--link); border-radius: .5rem; }
  details[open] > summary { border-bottom: 1px solid var(--line); }
  code, pre, .method, .path { font-family: var(--mono); }
  .method { font-weight: 600; font-size: .8rem; min-width: 2.75rem; }
  .get { color: var(--get); } .post { color: var(--post); }
  .path { overflow-wrap: anywhere; }
  .quiet { color: var(--quiet); }
  .summary { flex: 1 1 16rem; text-align: right; }
  .body { padding: 0 .9rem .9rem; }
  pre { overflow-x: auto; background: var(--ground); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem; font-size: .85rem; margin: 0; }
  dl { display: grid; grid-template-columns: minmax(0, 15.5rem) minmax(0, 1fr); margin: 0; }
  dt, dd { margin: 0; padding: .35rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
  dt:first-of-type, dd:first-of-type { border-top: 0; }
  dt { padding-right: .75rem; }
  dt code { font-size: .9rem; }
  dt .quiet { display: block; font-size: .8rem; }
  @media (max-width: 40rem) {
    .summary { text-align: left; flex-basis: 100%; }
    dl { grid-template-columns: minmax(0, 1fr); }
    dd { border-top: 0; padding-top: 0; }
  }
</style>
</head>
<body>
<h1>Model gateway</h1>
<p class="quiet">Written from the contracts that check the requests. The same as an
<a href="/openapi.json">OpenAPI document</a>; for the configuration file there is a
<a href="/gateway.schema.json">JSON Schema</a>.</p>
<main id="routes">Loading…</main>
<script type="module">${script}</script>
</body>
</html>
`
