/** What a conversation has come to, whatever shape it was sent in. */
export interface Question {
  readonly tools: readonly { readonly name: string; readonly schema: unknown }[]
  /** The text of the newest turn: what the user wants, or what a tool has said. */
  readonly newest: string
  /** Whether a call may be made, has to be, or must not be. */
  readonly choice?: 'auto' | 'any' | 'none' | undefined
  /** The JSON schema that the answer has to fit. */
  readonly format?: unknown
}

/** What the model says next. */
export interface Said {
  readonly thought: string
  readonly text: string | undefined
  readonly call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> } | undefined
}

/** The arguments with which the tools of agents read a file, by the names of the tools. */
const READING: Readonly<Record<string, (file: string) => Record<string, unknown>>> = {
  Read: (file) => ({ file_path: file }),
  exec_command: (file) => ({ cmd: `cat ${file}` }),
  shell: (file) => ({ command: ['bash', '-lc', `cat ${file}`] }),
  read: (file) => ({ filePath: file }),
  read_file: (file) => ({ file_path: file }),
  run_shell_command: (file) => ({ command: `cat ${file}` }),
}

const THOUGHT = 'The file says what is wanted.'

/**
 * The model that every strict vendor serves. A turn that names `one.txt` or `two.txt` makes it read that file with a tool
 * that it is offered; one that says what the word is makes it answer with the word. So an agent that tells it to read
 * `one.txt`, which names `two.txt`, ends with the word of the second file after two calls, if nothing was lost on the way.
 */
export function answerTo({ tools, newest, choice, format }: Question): Said {
  const silent = { thought: THOUGHT, call: undefined }
  if (format !== undefined) return { ...silent, text: JSON.stringify(instanceOf(format)) }
  const word = /The word is (\w+)/.exec(newest)?.[1]
  if (word !== undefined) return { ...silent, text: `I have read it: ${word}.` }
  const file = [...newest.matchAll(/[^\s"'`<>():]*\b(?:one|two)\.txt/g)].at(-1)?.[0]
  const tool = tools.find(({ name }) => Object.hasOwn(READING, name))
  if (file !== undefined && tool && choice !== 'none') {
    const given = fitting(READING[tool.name]?.(file) ?? {}, tool.schema)
    return { thought: THOUGHT, text: 'I look into it.', call: { name: tool.name, arguments: given } }
  }
  return { ...silent, text: 'There is nothing to do.' }
}

/** The arguments under the names that the tool's description has; those it lacks are told as lost. */
function fitting(given: Record<string, unknown>, schema: unknown): Record<string, unknown> {
  const { properties, required } = schema as { properties?: Record<string, unknown>; required?: string[] }
  const known = Object.entries(given).map(([name, value]) => {
    const named = [name, 'path', 'filepath', 'absolute_path'].find((one) => Object.hasOwn(properties ?? {}, one))
    if (named === undefined) throw new Error(`the description of the tool has lost its ${name}`)
    return [named, value]
  })
  const more = (required ?? []).map((name) => [name, instanceOf(properties?.[name])])
  return { ...Object.fromEntries(more), ...Object.fromEntries(known) }
}

/** A value that fits a JSON schema, as small as it gets. */
function instanceOf(schema: unknown): unknown {
  const { type, properties, required, anyOf, ...more } = (schema ?? {}) as Record<string, unknown> & {
    properties?: Record<string, unknown>
    required?: string[]
    anyOf?: unknown[]
    enum?: unknown[]
  }
  if (more.enum) return more.enum[0]
  if (anyOf) return instanceOf(anyOf[0])
  switch (String(Array.isArray(type) ? type[0] : type).toLowerCase()) {
    case 'object':
      return Object.fromEntries((required ?? []).map((name) => [name, instanceOf(properties?.[name])]))
    case 'array':
      return []
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return 1
    default:
      return 'Reading a file'
  }
}
