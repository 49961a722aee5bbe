import { entryOf } from '../../lib/json/lenient.ts'

type Fields = Readonly<Record<string, unknown>>

/** Maps defaults, which are named as chat fields, to the fields of another dialect: the same name, another name, or a
 *  function of the value. Defaults without an entry are dropped. */
export type DefaultFieldNames = Readonly<Record<string, string | ((value: unknown) => Fields)>>

/** Defaults as the changes of a request to a model, whose dialect has its settings below the top. */
export type DefaultChanges = (defaults: Fields, request: Fields, model: string) => Record<string, unknown>

/** Two names of one limit: a request that sets either has set both. */
const LIMITS = ['max_tokens', 'max_completion_tokens'] as const

/** The operator's defaults for fields that the request leaves out. */
export function defaultFields(
  defaults: Fields,
  request: Fields,
  names?: DefaultFieldNames | DefaultChanges,
  model = '',
): Record<string, unknown> {
  if (typeof names === 'function') return names(defaults, request, model)
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
