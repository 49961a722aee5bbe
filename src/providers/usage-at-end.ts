import { parseRecord } from '../lib/lenient.ts'
import type { Usage } from '../modes/usage.ts'
import { openaiUsage } from './openai-usage.ts'

/** A shorter answer is parsed, to know that it is whole. */
const LARGE_BYTES = 65_536
const LOOK_BYTES = 4096

const USAGE = '"usage":'

const latin1 = new TextDecoder('latin1')

/** What a large answer in OpenAI's shape says of its usage near its end, read without the rest of it. undefined where
 *  that is not enough: the answer is short, has no such `member` near its beginning, or what follows its usage is not the
 *  end of an object. */
export function usageAtEnd(bytes: Uint8Array, member: string): Usage | undefined {
  if (bytes.byteLength <= LARGE_BYTES) return undefined
  const head = latin1.decode(bytes.subarray(0, LOOK_BYTES))
  if (!/^\s*\{/.test(head) || !head.includes(`"${member}"`)) return undefined
  const tail = latin1.decode(bytes.subarray(-LOOK_BYTES))
  for (let at = tail.lastIndexOf(USAGE); at !== -1; at = at === 0 ? -1 : tail.lastIndexOf(USAGE, at - 1)) {
    const rest = parseRecord(`{${tail.slice(at)}`)
    if (rest) return openaiUsage(rest.usage)
  }
  return undefined
}
