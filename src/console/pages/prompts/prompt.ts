import type { Answer, Row } from '../../data/client.ts'

export type Prompt = Row<'GET /ui/api/prompts'>
export type Version = Answer<'GET /ui/api/prompts/{key}/versions/{version}'>
export type VersionSummary = Row<'GET /ui/api/prompts/{key}/versions'>
export type Message = Version['messages'][number]
export type Variable = Version['variables'][string]
export type Variables = Version['variables']

export const ROLES = ['system', 'developer', 'user', 'assistant'] as const satisfies readonly Message['role'][]

/** What is read anew after every change of a prompt. */
export const REFRESHES = { refreshes: ['/ui/api/prompts'] } as const

/** The labels that name a version. */
export const labelsOf = ({ labels }: Prompt, version: number): string[] =>
  Object.entries(labels)
    .filter(([, named]) => named === version)
    .map(([label]) => label)
    .sort()

/** Each text of a message: one, or those of its parts. */
export const textsOf = ({ content }: Message): string[] =>
  typeof content === 'string' ? [content] : content.map(({ text }) => text)

/** Whether a call that does not give the variable is refused. */
export const isRequired = ({ required, default: fallback }: Variable): boolean => required ?? fallback === undefined

/** What a variable may be, in words. */
export function kindOf({ type, enum: choices, max_length: longest }: Variable): string {
  if (type === 'enum') return `one of ${choices?.join(', ')}`
  if (longest === undefined) return type
  return `${type}, at most ${longest} ${type === 'array' ? 'items' : 'characters'}`
}
