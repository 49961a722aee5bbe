import { unsupported } from '../wire/unsupported-fields.ts'

/** Options that would send the answer somewhere else than to the client. */
const ELSEWHERE = ['callback', 'callback_method'] as const

/** The vendor's own options as query parameters; a list repeats its name. */
export function queryOptions(options: Readonly<Record<string, unknown>>, api: string): [string, string][] {
  for (const name of ELSEWHERE) if (options[name] != null) throw unsupported(name, api)
  return Object.entries(options).flatMap(([name, value]) =>
    [value].flat().flatMap((one): [string, string][] => {
      if (one === undefined || one === null) return []
      if (typeof one === 'object') throw unsupported(name, api)
      return [[name, String(one)]]
    }),
  )
}
