// The documentation page: shows what /openapi.json says.
const element = (name, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(name), attributes)
  made.append(...children)
  return made
}

const typeOf = (field) => {
  if (field.enum) return field.enum.join(' | ')
  if (field.const !== undefined) return String(field.const)
  const alternatives = field.anyOf ?? field.oneOf
  if (alternatives) return [...new Set(alternatives.filter((one) => one.type !== 'null').map(typeOf))].join(' | ')
  if (field.type === 'array') return field.items?.type ? `array of ${typeOf(field.items)}` : 'array'
  return [field.type ?? 'file']
    .flat()
    .filter((type) => type !== 'null')
    .join(' | ')
}
const describe = (field) =>
  field.description ?? (field.anyOf ?? []).map((one) => one.description).find((text) => text) ?? ''

const term = (name, note, text) => [
  element('dt', {}, element('code', {}, name), element('span', { className: 'quiet' }, note)),
  element('dd', {}, text),
]
const part = (title, ...content) => [element('h3', {}, title), ...content]

const bodyOf = (operation) => {
  const [[contentType, { schema }] = ['', {}]] = Object.entries(operation.requestBody?.content ?? {})
  return { contentType, schema, properties: schema?.properties ?? {}, required: schema?.required ?? [] }
}

const EXAMPLES = {
  model: 'echo',
  messages: [{ role: 'user', content: 'Hello' }],
  input: 'Hello',
  prompt: 'A lighthouse at dusk',
  query: 'Where is the lighthouse?',
  documents: ['At the end of the pier.', 'In the hills.'],
  file: '@recording.mp3',
}
const example = (name, field) => EXAMPLES[name] ?? field.enum?.[0] ?? (/number|integer/.test(typeOf(field)) ? 1 : '…')
const curl = (method, path, operation) => {
  const { contentType, properties, required } = bodyOf(operation)
  const values = required.map((name) => [name, example(name, properties[name] ?? {})])
  const lines = [`curl ${location.origin}${path}`]
  if (!['get', 'post'].includes(method)) lines.push(`-X ${method.toUpperCase()}`)
  if (operation.security) lines.push('-H "Authorization: Bearer $GATEWAY_KEY"')
  if (contentType.startsWith('multipart/')) lines.push(...values.map(([name, value]) => `-F ${name}=${value}`))
  else if (contentType) {
    lines.push(`-H "Content-Type: ${contentType}"`)
    lines.push(`-d '${JSON.stringify(Object.fromEntries(values))}'`)
  }
  return lines.join(' \\\n  ')
}

const fieldsOf = (operation) => {
  const { contentType, properties, required } = bodyOf(operation)
  const rows = Object.entries(properties).flatMap(([name, field]) =>
    term(name, typeOf(field) + (required.includes(name) ? ', required' : ''), describe(field)),
  )
  return rows.length === 0 ? [] : part(`Body, ${contentType}`, element('dl', {}, ...rows))
}
const parametersOf = (operation) => {
  const rows = operation.parameters.flatMap((one) =>
    term(one.name, `in the ${one.in}${one.required ? ', required' : ''}`, describe(one.schema)),
  )
  return rows.length === 0 ? [] : part('Parameters', element('dl', {}, ...rows))
}
const responsesOf = (operation) => {
  const rows = Object.entries(operation.responses).flatMap(([status, { description, content }]) =>
    term(status, Object.keys(content ?? {}).join(', '), description),
  )
  return part('Answers', element('dl', {}, ...rows))
}

const routeOf = (method, path, operation) =>
  element(
    'details',
    { id: operation.operationId },
    element(
      'summary',
      {},
      element('span', { className: `method ${method}` }, method.toUpperCase()),
      element('span', { className: 'path' }, path),
      element('span', { className: 'quiet summary' }, operation.summary),
    ),
    element(
      'div',
      { className: 'body' },
      ...parametersOf(operation),
      ...fieldsOf(operation),
      ...part('Example', element('pre', {}, curl(method, path, operation))),
      ...responsesOf(operation),
    ),
  )

const openNamed = () => {
  const named = document.getElementById(location.hash.slice(1))
  if (!(named instanceof HTMLDetailsElement)) return
  named.open = true
  named.scrollIntoView()
}

const main = document.getElementById('routes')
try {
  const { paths } = await (await fetch('/openapi.json')).json()
  const sections = new Map()
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const [tag] = operation.tags
      if (!sections.has(tag)) sections.set(tag, [element('h2', {}, tag)])
      sections.get(tag).push(routeOf(method, path, operation))
    }
  }
  main.replaceChildren(...[...sections.values()].flat())
  openNamed()
  addEventListener('hashchange', openNamed)
} catch (error) {
  main.replaceChildren(`The documentation could not be shown: ${error}`)
  throw error
}
