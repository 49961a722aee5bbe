import * as z from 'zod'
import { section } from '../../config/fields.ts'
import { lazily } from '../../lib/lazily.ts'
import { type Piece, readPlaceholders } from './placeholders.ts'
import { type Variables, variables } from './variables.ts'

const MOST_MESSAGES = 100
const MOST_PARTS = 100
/** The most characters of all texts of a template together. */
const LONGEST = 131_072

export const ROLES = ['system', 'developer', 'user', 'assistant'] as const
type Role = (typeof ROLES)[number]

const text = () =>
  z
    .string()
    .min(1)
    .superRefine((written, context) => {
      const { error } = readPlaceholders(written)
      if (error !== undefined) context.addIssue({ code: 'custom', message: error })
    })

const message = lazily(() =>
  section({
    role: z.enum(ROLES),
    content: z.union([
      text(),
      z
        .array(section({ type: z.literal('text'), text: text() }))
        .min(1)
        .max(MOST_PARTS),
    ]),
  }),
)

/** What a version of a prompt says. With `variables`, every placeholder must be declared there; without, each is a
 *  required string. */
export const promptContent = lazily(() =>
  z
    .strictObject({
      messages: z.array(message()).min(1).max(MOST_MESSAGES),
      variables: variables().optional(),
    })
    .superRefine(({ messages, variables: declared }, context) => {
      const length = messages.reduce((sum, { content }) => sum + partsOf(content).join('').length, 0)
      if (length > LONGEST) {
        context.addIssue({ code: 'custom', path: ['messages'], message: `have more than ${LONGEST} characters` })
      }
      if (!declared) return
      for (const [index, { content }] of messages.entries()) {
        for (const name of placeholdersIn(content)) {
          if (Object.hasOwn(declared, name)) continue
          const error = `names '${name}', which is not declared in variables`
          context.addIssue({ code: 'custom', path: ['messages', index, 'content'], message: error })
        }
      }
    }),
)

export type PromptContent = z.output<ReturnType<typeof promptContent>>
type Message = PromptContent['messages'][number]

/** A message of a template with its values in place. Its content has the shape that the template gave it. */
export interface RenderedMessage {
  readonly role: Role
  readonly content: string | readonly { readonly type: 'text'; readonly text: string }[]
}

/** A compiled version of a prompt. */
export interface Template {
  readonly variables: Variables
  /** The number of characters that the messages have with these values. */
  length(texts: ReadonlyMap<string, string>): number
  /** The messages with these values, in which no placeholder is looked for. */
  render(texts: ReadonlyMap<string, string>): RenderedMessage[]
}

export function templateOf({ messages, variables: declared }: PromptContent): Template {
  const compiled = messages.map(({ role, content }) => ({
    role,
    whole: typeof content === 'string',
    parts: partsOf(content).map((part) => readPlaceholders(part).pieces ?? [part]),
  }))
  const textFor = (piece: Piece, texts: ReadonlyMap<string, string>) =>
    typeof piece === 'string' ? piece : (texts.get(piece.variable) ?? '')
  const pieces = compiled.flatMap(({ parts }) => parts.flat())
  return {
    variables: declared ?? asRequiredStrings(messages),
    length: (texts) => pieces.reduce((sum, piece) => sum + textFor(piece, texts).length, 0),
    render: (texts) =>
      compiled.map(({ role, whole, parts }) => {
        const written = parts.map((part) => part.map((piece) => textFor(piece, texts)).join(''))
        return { role, content: whole ? (written[0] ?? '') : written.map((one) => ({ type: 'text', text: one })) }
      }),
  }
}

/** Each placeholder of the messages as a required string. */
export function asRequiredStrings(messages: readonly Message[]): Variables {
  const names = messages.flatMap(({ content }) => [...placeholdersIn(content)])
  return Object.fromEntries(names.map((name) => [name, { type: 'string', required: true }]))
}

function partsOf(content: Message['content']): string[] {
  return typeof content === 'string' ? [content] : content.map((part) => part.text)
}

function placeholdersIn(content: Message['content']): Set<string> {
  const pieces = partsOf(content).flatMap((part) => readPlaceholders(part).pieces ?? [])
  return new Set(pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.variable])))
}
