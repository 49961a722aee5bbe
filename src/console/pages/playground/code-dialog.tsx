import { useState } from 'preact/hooks'
import { Code } from '../../design/code.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Segmented } from '../../design/tabs.tsx'
import type { Endpoint } from './call.ts'

export interface Example {
  readonly endpoint: Endpoint
  /** Strings; a file is named by what it is. */
  readonly body: Readonly<Record<string, unknown>>
  /** Sent as a form, with a file. */
  readonly isForm?: boolean
}

const LANGUAGES = [
  { id: 'curl', label: 'curl' },
  { id: 'python', label: 'Python' },
  { id: 'javascript', label: 'JavaScript' },
] as const
type Language = (typeof LANGUAGES)[number]['id']

/** The call that the playground would make, for a program. */
export function CodeDialog({ example, onClose }: { readonly example: Example; readonly onClose: () => void }) {
  const [language, setLanguage] = useState<Language>('curl')
  return (
    <Dialog title="Code of this call" wide onClose={onClose}>
      <div class="stack">
        <div>
          <Segmented label="Language" options={LANGUAGES} current={language} onChange={setLanguage} />
        </div>
        <Code text={WRITERS[language](example, location.origin)} label={`The call in ${language}`} />
        <p class="quiet small">
          GATEWAY_KEY is the text of the key. It was shown when the key was made, and nobody can read it again.
        </p>
      </div>
    </Dialog>
  )
}

const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const WRITERS: Readonly<Record<Language, (example: Example, origin: string) => string>> = {
  curl: ({ endpoint, body, isForm }, origin) => {
    const lines = [`curl ${origin}/v1/${endpoint}`, '-H "Authorization: Bearer $GATEWAY_KEY"']
    if (isForm) for (const [name, value] of Object.entries(body)) lines.push(`-F ${shell(`${name}=${value}`)}`)
    else lines.push("-H 'Content-Type: application/json'", `-d ${shell(JSON.stringify(body, null, 2))}`)
    if (endpoint === 'audio/speech') lines.push('-o speech')
    return lines.join(' \\\n  ')
  },
  python: ({ endpoint, body, isForm }, origin) => {
    const head = 'import os, requests\n\n'
    const call = `response = requests.post(\n    "${origin}/v1/${endpoint}",\n    headers={"Authorization": f"Bearer {os.environ['GATEWAY_KEY']}"},\n`
    const { file, ...rest } = body
    const given = isForm
      ? `    data=${python(rest)},\n    files={"file": open("audio.mp3", "rb")},\n`
      : `    json=${python(body)},\n`
    const ends = endpoint === 'audio/speech' ? 'open("speech", "wb").write(response.content)' : 'print(response.text)'
    return `${head}${call}${given})\nresponse.raise_for_status()\n${ends}`
  },
  javascript: ({ endpoint, body, isForm }, origin) => {
    const { file, ...rest } = body
    const form = isForm
      ? `import { openAsBlob } from 'node:fs'\n\nconst body = new FormData()\nbody.set('file', await openAsBlob('audio.mp3'), 'audio.mp3')\n${Object.entries(
          rest,
        )
          .map(([name, value]) => `body.set(${JSON.stringify(name)}, ${JSON.stringify(String(value))})\n`)
          .join('')}`
      : ''
    const type = isForm ? '' : ", 'Content-Type': 'application/json'"
    const given = isForm ? 'body' : `body: JSON.stringify(${indented(JSON.stringify(body, null, 2), '  ')})`
    return `${form}const response = await fetch('${origin}/v1/${endpoint}', {\n  method: 'POST',\n  headers: { Authorization: \`Bearer \${process.env.GATEWAY_KEY}\`${type} },\n  ${given},\n})\nconsole.log(response.status, await response.text())`
  },
}

const indented = (text: string, by: string) => text.replaceAll('\n', `\n${by}`)

/** A JSON value as Python writes it. */
function python(value: unknown, by = '    '): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const deeper = `${by}    `
  const items = Array.isArray(value)
    ? value.map((one) => python(one, deeper))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${python(one, deeper)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return items.length === 0
    ? `${open}${close}`
    : `${open}\n${items.map((item) => `${deeper}${item},\n`).join('')}${by}${close}`
}
