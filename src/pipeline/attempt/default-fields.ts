import { entryOf } from '../../lib/json/lenient.ts'

type Fields = Readonly<Record<string, unknown>>

/** How defaults, which are in chat's words, are said in another dialect: under the same name, another name, or as the
 *  fields that a function makes of the value. A word that is not here is not said. */
export type DefaultWords = Readonly<Record<string, string | ((value: unknown) => Fields)>>

/** Two names of one limit: who sets either has set both. */
const LIMITS = ['max_tokens', 'max_completion_tokens'] as const

/** What an operator set and the request leaves out. */
export function defaultFields(defaults: Fields, request: Fields, words?: DefaultWords): Record<string, unknown> {
  const limited = LIMITS.some((name) => request[name] !== undefined)
  const said = Object.entries(defaults).filter(([name]) => !limited || !LIMITS.some((limit) => limit === name))
  const inWords = words ? said.flatMap(([name, value]) => translated(name, value, words)) : said
  return Object.fromEntries(inWords.filter(([name]) => request[name] === undefined))
}

function translated(name: string, value: unknown, words: DefaultWords): [string, unknown][] {
  const word = entryOf(words, name)
  if (word === undefined) return []
  return typeof word === 'string' ? [[word, value]] : Object.entries(word(value))
}
