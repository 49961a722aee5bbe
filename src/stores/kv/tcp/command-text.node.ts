import type { PreparedScript, ScriptArguments } from '../redis-store.ts'
import type { ScriptKey, SharedKeys } from '../scripts/script-keys.ts'

const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`

/** A command as RESP writes it. */
export const commandText = (words: readonly string[]): string => `*${words.length}\r\n${words.map(bulk).join('')}`

/** The `EVALSHA` of a script, whose keys get the prefix. */
export function evaluationText(
  { sha }: PreparedScript,
  keys: readonly ScriptKey[],
  [now, json]: ScriptArguments,
  prefix: string,
): string {
  let count = 0
  let named = ''
  for (const part of keys) {
    const isOne = typeof part === 'string'
    count += isOne ? 1 : part.keys.length
    named += isOne ? bulk(prefix + part) : sharedText(part, prefix)
  }
  return `*${count + 5}\r\n$7\r\nEVALSHA\r\n${bulk(sha)}${bulk(String(count))}${named}${bulk(now)}${bulk(json)}`
}

function sharedText(shared: SharedKeys, prefix: string): string {
  if (shared.written?.prefix !== prefix) {
    shared.written = { prefix, text: shared.keys.map((key) => bulk(prefix + key)).join('') }
  }
  return shared.written.text
}
