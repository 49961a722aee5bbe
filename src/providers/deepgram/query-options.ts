import { unspoken } from '../wire/unspoken-fields.ts'

/** Options that would send the answer elsewhere than to the client. */
const ELSEWHERE = ['callback', 'callback_method'] as const

/** Options that only this vendor has, as it reads them: in the address, a list as a repeated name. */
export function queryOptions(options: Readonly<Record<string, unknown>>, api: string): [string, string][] {
  for (const name of ELSEWHERE) if (options[name] != null) throw unspoken(name, api)
  return Object.entries(options).flatMap(([name, value]) =>
    [value].flat().flatMap((one): [string, string][] => {
      if (one === undefined || one === null) return []
      if (typeof one === 'object') throw unspoken(name, api)
      return [[name, String(one)]]
    }),
  )
}
