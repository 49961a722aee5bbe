import type { Fields } from '../../../../api/ui/records/record-fields.ts'
import { isMap } from '../../../../config/fields.ts'
import { shownAddress } from '../../../../lib/addresses/shown-address.ts'
import { MASK } from '../../../../lib/secret.ts'
import type { Kind, Mistake } from './kind.ts'

export interface Opened {
  /** The record as it is sent: with every secret that is known here. */
  readonly sent: Fields
  /** The record as the installation would show it. */
  readonly shown: Fields
  readonly mistakes: readonly Mistake[]
}

const REFERENCE = 'os.environ/'

/** Puts secrets into a record. A record that has a secret keeps it, whatever the file says, unless they are `resent`. */
export function opened(
  { secrets }: Kind,
  record: Fields,
  before: Fields | undefined,
  { env, resent }: { readonly env: Readonly<Record<string, string | undefined>>; readonly resent: boolean },
): Opened {
  if (!secrets) return { sent: record, shown: record, mistakes: [] }
  const mistakes: Mistake[] = []
  const kept: string[] = []

  function open(value: unknown, was: unknown, path: string): { sent: unknown; shown: unknown } {
    if (isMap(value)) {
      const members = Object.entries(value).map(
        ([name, member]) => [name, open(member, isMap(was) ? was[name] : undefined, `${path}.${name}`)] as const,
      )
      return {
        sent: Object.fromEntries(members.map(([name, { sent }]) => [name, sent])),
        shown: Object.fromEntries(members.map(([name, { shown }]) => [name, shown])),
      }
    }
    if (typeof value !== 'string') return { sent: value, shown: value }
    const text = value.startsWith(REFERENCE) ? env[value.slice(REFERENCE.length)] || undefined : value
    // An address has the mask in it.
    const isMask = value.includes(MASK)
    const isStored = typeof was === 'string' && was.includes(MASK)
    if (isMask || (text === undefined && isStored)) {
      if (isStored && (!isMask || value === was)) kept.push(path)
      else {
        const message = `stands for a secret that is not in this installation: write ${REFERENCE}NAME here, and set NAME for this command`
        mistakes.push({ path, message })
      }
      return { sent: was, shown: was }
    }
    if (text === undefined) {
      const message = `refers to the variable ${value.slice(REFERENCE.length)}, which this command does not have: set it`
      mistakes.push({ path, message })
      return { sent: MASK, shown: MASK }
    }
    const isKept = isStored && !resent && (was === MASK || was === shownAddress(text))
    return { sent: text, shown: isKept ? was : text }
  }

  const fields = secrets.fields.filter((name) => record[name] !== undefined)
  const outcomes = fields.map((name) => [name, open(record[name], before?.[name], name)] as const)
  const sent = { ...record, ...Object.fromEntries(outcomes.map(([name, one]) => [name, one.sent])) }
  const shown = { ...record, ...Object.fromEntries(outcomes.map(([name, one]) => [name, one.shown])) }
  if (before && secrets.addressOf(before) !== secrets.addressOf(sent)) {
    const message = `is stored for another provider or address: write ${REFERENCE}NAME here, and set NAME for this command`
    mistakes.push(...kept.map((path) => ({ path, message })))
  }
  return { sent, shown, mistakes }
}
