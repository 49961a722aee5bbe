import { latin1Text } from '../../lib/bytes/latin1.ts'
import { parseRecord } from '../../lib/json/lenient.ts'
import type { Usage } from '../../modes/usage.ts'
import { openaiUsage } from '../openai/usage.ts'

const SEARCHED_BYTES = 4096
/** Shorter answers are parsed as a whole, which costs as much. */
const LARGE_BYTES = 2 * SEARCHED_BYTES

const USAGE = '"usage":'
const ERROR = '"error"'

/** The usage near the end of a large answer in OpenAI's shape, read without parsing the rest. undefined if the answer has to
 *  be parsed: it is short, has no `member` near its beginning, may contain an error, or does not end after its usage. */
export function usageAtEnd(bytes: Uint8Array, member: string): Usage | undefined {
  if (bytes.byteLength <= LARGE_BYTES) return undefined
  const head = latin1Text(bytes.subarray(0, SEARCHED_BYTES))
  if (!beginsWith(head, member) || head.includes(ERROR)) return undefined
  const tail = latin1Text(bytes.subarray(-SEARCHED_BYTES))
  if (tail.includes(ERROR)) return undefined
  for (let at = tail.lastIndexOf(USAGE); at !== -1; at = at === 0 ? -1 : tail.lastIndexOf(USAGE, at - 1)) {
    const rest = parseRecord(`{${tail.slice(at)}`)
    if (rest) return openaiUsage(rest.usage, rest)
  }
  return undefined
}

/** Whether an object begins whose member is a list, an object or a text. */
function beginsWith(head: string, member: string): boolean {
  if (head[0] !== '{' && !/^\s*\{/.test(head)) return false
  const name = `"${member}":`
  const at = head.indexOf(name)
  if (at === -1) return false
  const value = head[at + name.length]
  return value === ' '
    ? /["[{]/.test(head[at + name.length + 1] ?? '')
    : value === '[' || value === '{' || value === '"'
}
