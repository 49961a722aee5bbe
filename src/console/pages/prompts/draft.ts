import { isRequired, type Message, textsOf, type Variable, type Variables, type Version } from './prompt.ts'
import { namesIn } from './template.ts'
import { readValue } from './values.ts'

/** A message that is being written. One that was made of parts keeps them. */
export interface DraftMessage {
  readonly id: number
  readonly role: Message['role']
  readonly texts: readonly string[]
  readonly hasParts: boolean
}

/** A variable as it is typed. */
export interface DraftVariable {
  readonly type: Variable['type']
  readonly description: string
  /** One choice a line. */
  readonly choices: string
  readonly longest: number | null
  /** What a call without it means. */
  readonly absent: 'refused' | 'empty' | 'default'
  readonly fallback: string
}

const NEW_VARIABLE: DraftVariable = {
  type: 'string',
  description: '',
  choices: '',
  longest: null,
  absent: 'refused',
  fallback: '',
}

let lastId = 0
export const newMessage = (role: Message['role']): DraftMessage => ({
  id: ++lastId,
  role,
  texts: [''],
  hasParts: false,
})

export const draftMessages = ({ messages }: Pick<Version, 'messages'>): DraftMessage[] =>
  messages.map((message) => ({
    id: ++lastId,
    role: message.role,
    texts: textsOf(message),
    hasParts: typeof message.content !== 'string',
  }))

export const draftVariables = ({ variables }: Pick<Version, 'variables'>): Record<string, DraftVariable> =>
  Object.fromEntries(Object.entries(variables).map(([name, variable]) => [name, draftVariable(variable)]))

function draftVariable(variable: Variable): DraftVariable {
  const { type, description = '', enum: choices = [], max_length: longest = null, default: fallback } = variable
  return {
    type,
    description,
    choices: choices.join('\n'),
    longest,
    absent: isRequired(variable) ? 'refused' : fallback === undefined ? 'empty' : 'default',
    fallback: fallback === undefined ? '' : typeof fallback === 'string' ? fallback : JSON.stringify(fallback),
  }
}

export const messagesOf = (drafts: readonly DraftMessage[]): Message[] =>
  drafts.map(({ role, texts, hasParts }) => ({
    role,
    content: hasParts ? texts.map((text) => ({ type: 'text', text })) : (texts[0] ?? ''),
  }))

/** The variables that the texts name, and those that were declared without being named any more. */
export function variablesOf(
  messages: readonly DraftMessage[],
  declared: Readonly<Record<string, DraftVariable>>,
): Record<string, DraftVariable> {
  const names = namesIn(messages.flatMap(({ texts }) => texts))
  const all = [...new Set([...names, ...Object.keys(declared)])]
  return Object.fromEntries(all.map((name) => [name, declared[name] ?? NEW_VARIABLE]))
}

export const declarationsOf = (drafts: Readonly<Record<string, DraftVariable>>): Variables =>
  Object.fromEntries(Object.entries(drafts).map(([name, draft]) => [name, declarationOf(draft)]))

function declarationOf({ type, description, choices, longest, absent, fallback }: DraftVariable): Variable {
  return {
    type,
    ...(description ? { description } : {}),
    ...(type === 'enum' ? { enum: choices.split('\n').filter((choice) => choice.trim() !== '') } : {}),
    ...(hasLength(type) && longest !== null ? { max_length: longest } : {}),
    ...(absent === 'default' ? { default: readValue({ type }, fallback) } : { required: absent === 'refused' }),
  }
}

export const hasLength = (type: Variable['type']): boolean => type === 'string' || type === 'array'
