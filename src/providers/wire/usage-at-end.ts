import { parseRecord } from '../../lib/json/lenient.ts'
import type { Usage } from '../../modes/usage.ts'
import { openaiUsage } from '../openai/usage.ts'

const LOOK_BYTES = 4096
/** A shorter answer is parsed: looking would cost as much, and tell less. */
const LARGE_BYTES = 2 * LOOK_BYTES

const USAGE = '"usage":'
const ERROR = '"error"'

const latin1 = new TextDecoder('latin1')

/** What a large answer in OpenAI's shape says of its usage near its end, read without the rest of it. undefined where
 *  that is not enough: the answer is short, has no such `member` near its beginning, may tell of an error, or what follows
 *  its usage is not the end of an object. */
export function usageAtEnd(bytes: Uint8Array, member: string): Usage | undefined {
  if (bytes.byteLength <= LARGE_BYTES) return undefined
  const head = latin1.decode(bytes.subarray(0, LOOK_BYTES))
  if (!beginsWith(head, member) || head.includes(ERROR)) return undefined
  const tail = latin1.decode(bytes.subarray(-LOOK_BYTES))
  if (tail.includes(ERROR)) return undefined
  for (let at = tail.lastIndexOf(USAGE); at !== -1; at = at === 0 ? -1 : tail.lastIndexOf(USAGE, at - 1)) {
    const rest = parseRecord(`{${tail.slice(at)}`)
    if (rest) return openaiUsage(rest.usage, rest)
  }
  return undefined
}

/** Whether an object begins, with something more than a number or null as its member. */
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
