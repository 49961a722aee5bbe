import { newId } from '../../../lib/ids.ts'

/** The letters of an id behind its prefix. */
const LETTERS = 24
/** The letters that tell the items of one response apart. */
const OWN = 8

export const newResponseId = (): string => newId('resp')

/** Makes ids of the items of a response. They hold its letters, by which an item is found again. */
export function itemIds(responseId: string): (prefix: string) => string {
  const of = responseId.slice(responseId.indexOf('_') + 1)
  return (prefix) => `${prefix}_${of}${newId('').slice(1, 1 + OWN)}`
}

const RESPONSE = new RegExp(`^resp_[0-9a-z]{${LETTERS}}$`)
const ITEM = new RegExp(`^[a-z]+_([0-9a-z]{${LETTERS}})[0-9a-z]{${OWN}}$`)

/** The response of such an id: itself, or that of the item. */
export function responseIdOf(id: string): string | undefined {
  if (RESPONSE.test(id)) return id
  const [, letters] = ITEM.exec(id) ?? []
  return letters === undefined ? undefined : `resp_${letters}`
}

const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'cto',
  local_shell_call: 'lsh',
  compaction: 'cmp',
}

export const prefixOf = (type: string): string => PREFIXES[type] ?? 'item'
