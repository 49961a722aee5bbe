import { entryOf } from '../../lib/json/lenient.ts'

type Fields = Readonly<Record<string, unknown>>

/** How defaults, which are in chat's words, are said in another dialect: under the same name, another name, or as the
 *  fields that a function makes of the value. A word that is not here is not said. */
export type DefaultFieldNames = Readonly<Record<string, string | ((value: unknown) => Fields)>>

/** Two names of one limit: who sets either has set both. */
const LIMITS = ['max_tokens', 'max_completion_tokens'] as const

/** What an operator set and the request leaves out. */
export function defaultFields(defaults: Fields, request: Fields, names?: DefaultFieldNames): Record<string, unknown> {
  const limited = LIMITS.some((name) => request[name] !== undefined)
  const applicable = Object.entries(defaults).filter(([name]) => !limited || !LIMITS.some((limit) => limit === name))
  const renamed = names ? applicable.flatMap(([name, value]) => translated(name, value, names)) : applicable
  return Object.fromEntries(renamed.filter(([name]) => request[name] === undefined))
}

function translated(name: string, value: unknown, names: DefaultFieldNames): [string, unknown][] {
  const field = entryOf(names, name)
  if (field === undefined) return []
  return typeof field === 'string' ? [[field, value]] : Object.entries(field(value))
}
