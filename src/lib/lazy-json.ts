import { GatewayError } from './errors.ts'
import { endOfValue, type Member, membersOf } from './json-members.ts'

/** A member longer than this is built when somebody reads it. */
const LAZY_LENGTH = 65_536

interface Source {
  readonly text: string
  readonly members: readonly Member[]
}

const sources = new WeakMap<object, Source>()

/** What JSON.parse gives, but long members of the object are built when they are first read: a call that is relayed
 *  never reads its conversation. A mistake inside such a member is an `invalid_request` when it is read. */
export function parseLazily(text: string): unknown {
  if (text.length < 2 * LAZY_LENGTH) return JSON.parse(text)
  const members = membersOf(text)
  if (!members) return JSON.parse(text)
  const value: Record<string, unknown> = {}
  for (const { key, valueStart, valueEnd } of members) {
    if (valueEnd - valueStart < LAZY_LENGTH) define(value, key, { value: JSON.parse(text.slice(valueStart, valueEnd)) })
    else define(value, key, lazily(text, valueStart, valueEnd))
  }
  sources.set(value, { text, members })
  return value
}

/** The same object for a look at its shape: of a list that was not built there is the first item, of a text a letter. */
export function outline(value: unknown): unknown {
  const source = typeof value === 'object' && value !== null ? sources.get(value) : undefined
  if (!source) return value
  const { text, members } = source
  const seen: Record<string, unknown> = {}
  for (const { key, valueStart, valueEnd } of members) {
    const long = valueEnd - valueStart >= LAZY_LENGTH
    const sample = long ? SAMPLES[text[valueStart] as string]?.(text, valueStart) : undefined
    define(seen, key, { value: sample ?? (value as Record<string, unknown>)[key] })
  }
  return seen
}

/** Where an object came from, when it was read lazily. */
export function sourceOf(value: object): Source | undefined {
  return sources.get(value)
}

function lazily(text: string, start: number, end: number): PropertyDescriptor {
  let built: { readonly value: unknown } | undefined
  return {
    get() {
      built ??= { value: checked(text.slice(start, end)) }
      return built.value
    },
  }
}

function checked(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new GatewayError('invalid_request', 'The request body is not valid JSON.', { code: 'invalid_json' })
  }
}

// A key such as __proto__ is a member like any other.
function define(target: object, key: string, descriptor: PropertyDescriptor): void {
  const writable = 'value' in descriptor ? { writable: true } : {}
  Object.defineProperty(target, key, { enumerable: true, configurable: true, ...writable, ...descriptor })
}

/** What stands for a long value, by its first letter. */
const SAMPLES: Readonly<Record<string, (text: string, start: number) => unknown>> = {
  '[': (text, start) => [firstItem(text, start)],
  '"': () => '…',
}

function firstItem(text: string, listStart: number): unknown {
  const item = /\S/g
  item.lastIndex = listStart + 1
  const start = item.exec(text)?.index ?? text.length
  const written = text.slice(start, endOfValue(text, start))
  return written[0] === '{' ? outline(parseLazily(written)) : checked(written)
}
