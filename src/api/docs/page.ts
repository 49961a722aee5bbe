/** The documentation page: reads /openapi.json and needs nothing from anywhere else. */
export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Model gateway: API</title>
<style>
  :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
  h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
  h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
  details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; }
  summary { cursor: pointer; padding: .6rem .9rem; display: flex; gap: .75rem; flex-wrap: wrap; align-items: baseline; }
  .method { font: 600 .8rem ui-monospace, monospace; text-transform: uppercase; min-width: 3.5rem; }
  .path { font-family: ui-monospace, monospace; }
  .note { opacity: .75; }
  .body { padding: 0 .9rem .9rem; }
  pre { overflow: auto; border: 1px solid var(--line); border-radius: .5rem; padding: .75rem; font-size: .85rem; }
  table { border-collapse: collapse; width: 100%; }
  td, th { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
</style>
</head>
<body>
<h1>Model gateway</h1>
<p class="note">Written from the same contracts that check the requests. The document itself: <a href="/openapi.json">/openapi.json</a>,
the configuration's schema: <a href="/gateway.schema.json">/gateway.schema.json</a>.</p>
<main id="routes">Loading…</main>
<script type="module">
const element = (name, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(name), attributes)
  made.append(...children)
  return made
}
const curl = (method, path, operation) => {
  const lines = ['curl ' + location.origin + path]
  if (method !== 'get') lines.push('-X ' + method.toUpperCase())
  if (operation.security) lines.push('-H "Authorization: Bearer $GATEWAY_KEY"')
  if (operation.requestBody) {
    lines.push('-H "Content-Type: application/json"')
    lines.push("-d '" + JSON.stringify(example(operation)) + "'")
  }
  return lines.join(' \\\\\\n  ')
}
const example = (operation) => {
  const schema = operation.requestBody.content['application/json'].schema
  const body = {}
  for (const name of schema.required ?? []) body[name] = name === 'model' ? 'echo' : name === 'messages' ? [{ role: 'user', content: 'Hello' }] : '…'
  return body
}
const fields = (schema) => {
  if (!schema?.properties) return []
  const rows = Object.entries(schema.properties).map(([name, field]) =>
    element('tr', {},
      element('td', { className: 'path' }, name + (schema.required?.includes(name) ? ' *' : '')),
      element('td', {}, [field.type ?? field.anyOf?.map((one) => one.type).filter(Boolean).join(' | ') ?? ''].flat().join(' | ')),
      element('td', {}, field.description ?? field.anyOf?.find((one) => one.description)?.description ?? '')))
  return [element('table', {}, ...rows)]
}
const answer = await fetch('/openapi.json')
const document_ = await answer.json()
const tags = new Map()
for (const [path, operations] of Object.entries(document_.paths)) {
  for (const [method, operation] of Object.entries(operations)) {
    const tag = operation.tags[0]
    if (!tags.has(tag)) tags.set(tag, [element('h2', {}, tag)])
    const responses = Object.entries(operation.responses).map(([status, { description }]) =>
      element('tr', {}, element('td', { className: 'path' }, status), element('td', {}, description)))
    tags.get(tag).push(element('details', { id: operation.operationId },
      element('summary', {},
        element('span', { className: 'method' }, method), element('span', { className: 'path' }, path),
        element('span', { className: 'note' }, operation.summary)),
      element('div', { className: 'body' },
        ...fields(operation.requestBody?.content['application/json'].schema),
        element('pre', {}, curl(method, path, operation)),
        element('table', {}, ...responses))))
  }
}
document.getElementById('routes').replaceChildren(...[...tags.values()].flat())
</script>
</body>
</html>
`
