/** A call of a model, as code can make it. */
export interface SampleCall {
  /** Of the gateway. */
  readonly origin: string
  /** After `/v1/`. */
  readonly endpoint: string
  readonly body: Readonly<Record<string, unknown>>
  /** The name of a file that is sent with it, as a form. */
  readonly file?: string | undefined
  /** The part of the form that the file is; `file` unless told otherwise. */
  readonly fileName?: string | undefined
  /** The text of a key. Without it, code reads it from the variable GATEWAY_KEY. */
  readonly key?: string | undefined
}

export const SAMPLE_LANGUAGES = [
  { id: 'curl', label: 'curl' },
  { id: 'python', label: 'Python' },
  { id: 'typescript', label: 'TypeScript' },
  { id: 'javascript', label: 'fetch' },
] as const
export type SampleLanguage = (typeof SAMPLE_LANGUAGES)[number]['id']

/** The call as a program in a language. Python and TypeScript use the OpenAI clients, fetch needs nothing. */
export const sampleOf = (language: SampleLanguage, call: SampleCall): string => WRITERS[language](call)

const WRITERS: Readonly<Record<SampleLanguage, (call: SampleCall) => string>> = { curl, python, typescript, javascript }

/** Where an answer that is no text is kept. */
const SPOKEN = 'speech.mp3'
const isSpoken = ({ endpoint }: SampleCall) => endpoint === 'audio/speech'
const isChat = ({ endpoint }: SampleCall) => endpoint === 'chat/completions'
const isStreamed = ({ body }: SampleCall) => body.stream === true
const addressOf = ({ origin, endpoint }: SampleCall) => `${origin}/v1/${endpoint}`

/** How the OpenAI clients call an endpoint. */
interface Method {
  readonly name: string
  /** The fields that they know. */
  readonly fields: ReadonlySet<string>
  /** What there is to see of an answer. */
  readonly shown?: string
}

const METHODS: Readonly<Record<string, Method>> = {
  'chat/completions': {
    name: 'chat.completions.create',
    shown: '.choices[0].message.content',
    fields: new Set(
      'model messages stream stream_options temperature top_p max_tokens max_completion_tokens n stop seed tools tool_choice parallel_tool_calls response_format reasoning_effort metadata user presence_penalty frequency_penalty logit_bias logprobs top_logprobs modalities audio prediction service_tier store verbosity'.split(
        ' ',
      ),
    ),
  },
  completions: {
    name: 'completions.create',
    shown: '.choices[0].text',
    fields: new Set('model prompt stream temperature top_p max_tokens n stop seed user suffix echo best_of'.split(' ')),
  },
  responses: {
    name: 'responses.create',
    shown: '.output_text',
    fields: new Set('model input stream instructions temperature top_p max_output_tokens tools metadata'.split(' ')),
  },
  embeddings: {
    name: 'embeddings.create',
    fields: new Set('model input dimensions encoding_format user'.split(' ')),
  },
  moderations: { name: 'moderations.create', fields: new Set(['model', 'input']) },
  'images/generations': {
    name: 'images.generate',
    fields: new Set('model prompt n size quality style background output_format response_format user'.split(' ')),
  },
  'images/edits': {
    name: 'images.edit',
    fields: new Set('model prompt n size quality background output_format response_format user'.split(' ')),
  },
  'audio/speech': {
    name: 'audio.speech.create',
    fields: new Set('model input voice instructions response_format speed'.split(' ')),
  },
  'audio/transcriptions': {
    name: 'audio.transcriptions.create',
    shown: '.text',
    fields: new Set('model language prompt response_format temperature timestamp_granularities'.split(' ')),
  },
  'audio/translations': {
    name: 'audio.translations.create',
    shown: '.text',
    fields: new Set('model prompt response_format temperature'.split(' ')),
  },
}

function curl(call: SampleCall): string {
  const { body, file, fileName = 'file', key } = call
  const bearer = key === undefined ? '"Authorization: Bearer $GATEWAY_KEY"' : word(`Authorization: Bearer ${key}`)
  return [
    `curl ${isStreamed(call) ? '-N ' : ''}${word(addressOf(call))}`,
    `-H ${bearer}`,
    ...(file === undefined
      ? ["-H 'Content-Type: application/json'", `-d ${word(JSON.stringify(body, null, 2).replaceAll('\n', '\n  '))}`]
      : [
          ...Object.entries(body).map(([name, value]) => `-F ${word(`${name}=${value}`)}`),
          `-F ${word(`${fileName}=@${file}`)}`,
        ]),
    ...(isSpoken(call) ? [`-o ${SPOKEN}`] : []),
  ].join(' \\\n  ')
}

function python(call: SampleCall): string {
  const { origin, endpoint, body, file, fileName = 'file', key } = call
  const method = METHODS[endpoint]
  const own = Object.entries(body).filter(([name]) => !method || method.fields.has(name))
  const others = Object.entries(body).filter(([name]) => method && !method.fields.has(name))
  const inside = [
    ...own.map(([name, value]) => `${name}=${inPython(value)}`),
    ...(others.length > 0 ? [`extra_body=${inPython(Object.fromEntries(others))}`] : []),
    ...(file === undefined ? [] : [`${fileName}=open(${JSON.stringify(file)}, "rb")`]),
  ]
  return [
    ...(key === undefined ? ['import os', ''] : []),
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url="${origin}/v1", api_key=${key === undefined ? 'os.environ["GATEWAY_KEY"]' : JSON.stringify(key)})`,
    method
      ? `answer = client.${method.name}(\n${inside.map((line) => `    ${line},\n`).join('')})`
      : `answer = client.post("/${endpoint}", cast_to=object, body=${inPython(body, '')})`,
    isSpoken(call)
      ? `answer.write_to_file("${SPOKEN}")`
      : isStreamed(call)
        ? `for event in answer:\n${isChat(call) ? '    if event.choices:\n        print(event.choices[0].delta.content or "", end="")' : '    print(event)'}`
        : `print(answer${method?.shown ?? ''})`,
  ].join('\n')
}

function typescript(call: SampleCall): string {
  const { origin, endpoint, body, file, fileName = 'file', key } = call
  const method = METHODS[endpoint]
  const lines = Object.entries(body).map(([name, value]) => `  ${name}: ${inScript(value, '  ')},`)
  const given = [...lines, ...(file === undefined ? [] : [`  ${fileName}: createReadStream(${inScript(file)}),`])]
  return [
    ...(file === undefined ? [] : ["import { createReadStream } from 'node:fs'"]),
    ...(isSpoken(call) ? ["import { writeFile } from 'node:fs/promises'"] : []),
    "import OpenAI from 'openai'",
    '',
    `const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: ${keyInScript(key)} })`,
    method
      ? `const answer = await client.${method.name}({\n${given.join('\n')}\n})`
      : `const answer = await client.post('/${endpoint}', { body: ${inScript(body)} })`,
    isSpoken(call)
      ? `await writeFile('${SPOKEN}', Buffer.from(await answer.arrayBuffer()))`
      : isStreamed(call)
        ? `for await (const event of answer) ${isChat(call) ? "process.stdout.write(event.choices[0]?.delta.content ?? '')" : 'console.log(event)'}`
        : `console.log(answer${method?.shown ?? ''})`,
  ].join('\n')
}

function javascript(call: SampleCall): string {
  const { body, file, fileName = 'file', key } = call
  const bearer = key === undefined ? `\`Bearer \${${KEY_IN_SCRIPT}}\`` : inScript(`Bearer ${key}`)
  const form =
    file === undefined
      ? []
      : [
          'const body = new FormData()',
          `body.set('${fileName}', await openAsBlob(${inScript(file)}), ${inScript(file)})`,
          ...Object.entries(body).map(([name, value]) => `body.set(${inScript(name)}, ${inScript(String(value))})`),
        ]
  return [
    ...(file === undefined ? [] : ["import { openAsBlob } from 'node:fs'", '']),
    ...(isSpoken(call) ? ["import { writeFile } from 'node:fs/promises'", ''] : []),
    ...form,
    `const response = await fetch('${addressOf(call)}', {`,
    "  method: 'POST',",
    `  headers: { Authorization: ${bearer}${file === undefined ? ", 'Content-Type': 'application/json'" : ''} },`,
    file === undefined ? `  body: JSON.stringify(${inScript(body, '  ')}),` : '  body,',
    '})',
    ...(isSpoken(call)
      ? [`await writeFile('${SPOKEN}', Buffer.from(await response.arrayBuffer()))`]
      : isStreamed(call)
        ? ['for await (const text of response.body.pipeThrough(new TextDecoderStream())) process.stdout.write(text)']
        : ['console.log(response.status, await response.text())']),
  ].join('\n')
}

/** What programs read of their environment: .env. */
export const environmentOf = (origin: string, key = 'sk-…'): string =>
  [`OPENAI_BASE_URL=${origin}/v1`, `OPENAI_API_KEY=${key}`].join('\n')

/** How coding tools are told to use the gateway. */
export const codingToolsOf = (origin: string, model: string, key = 'sk-…'): string =>
  [
    '# Claude Code',
    `export ANTHROPIC_BASE_URL=${origin}`,
    `export ANTHROPIC_AUTH_TOKEN=${key}`,
    `export ANTHROPIC_MODEL=${word(model)}`,
    '',
    '# Tools that speak the API of OpenAI',
    `export OPENAI_BASE_URL=${origin}/v1`,
    `export OPENAI_API_KEY=${key}`,
  ].join('\n')

/** As one word of a shell. */
const word = (text: string) => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

const KEY_IN_SCRIPT = 'process.env.GATEWAY_KEY'
const keyInScript = (key: string | undefined) => (key === undefined ? KEY_IN_SCRIPT : inScript(key))

/** A JSON value as JavaScript writes it: names without quotes where they need none. */
function inScript(value: unknown, by = ''): string {
  if (typeof value === 'string') {
    return /['\\\n\r\u2028\u2029]/.test(value) ? JSON.stringify(value) : `'${value}'`
  }
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const name = (text: string) => (/^[A-Za-z_$][\w$]*$/.test(text) ? text : inScript(text))
  return Array.isArray(value)
    ? nested(
        '[',
        ']',
        value.map((one) => inScript(one, `${by}  `)),
        by,
        '  ',
      )
    : nested(
        '{',
        '}',
        Object.entries(value).map(([key, one]) => `${name(key)}: ${inScript(one, `${by}  `)}`),
        by,
        '  ',
      )
}

/** A JSON value as Python writes it. */
function inPython(value: unknown, by = '    '): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  return Array.isArray(value)
    ? nested(
        '[',
        ']',
        value.map((one) => inPython(one, `${by}    `)),
        by,
        '    ',
      )
    : nested(
        '{',
        '}',
        Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${inPython(one, `${by}    `)}`),
        by,
        '    ',
      )
}

const SHORT = 72

/** On one line where there is room, else a line each. */
function nested(open: string, close: string, items: readonly string[], by: string, deeper: string): string {
  const inOne = items.join(', ')
  const space = open === '{' && deeper.length === 2 && items.length > 0 ? ' ' : ''
  if (inOne.length < SHORT && !inOne.includes('\n')) return `${open}${space}${inOne}${space}${close}`
  return `${open}\n${items.map((item) => `${by}${deeper}${item},\n`).join('')}${by}${close}`
}
