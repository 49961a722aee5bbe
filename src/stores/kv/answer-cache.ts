import type { Key } from './keys.ts'

/** A look at cached answers, which is part of an admission: only a call that may run looks. A stored answer begins with
 *  the time at which it was asked for and '|', so that a clearing ends it without being looked for. */
export interface CacheLookup {
  /** The keys of the answers that the call needs. */
  readonly answers: readonly Key[]
  /** The marks of clearings that apply to them: what was asked for at or before a mark is not used. */
  readonly clearings: readonly Key[]
  /** Older answers are not used. */
  readonly maxAgeSeconds: number
  /** The key of the lead among identical calls. */
  readonly lead: Key
  /** How long a lead lives without renewal. */
  readonly leadSeconds: number
}

/** What the cache has for an admitted call. */
export interface Cached {
  /** `hit`: every answer. `follow`: not every one, and an identical call is asking for the others. Then the call was
   *  counted, but nothing is reserved or held for it: it only needs budgets that are not spent. `lead`: this call asks,
   *  and identical ones wait for it. `alone`: this call asks, and so do identical ones, because the answer to an earlier
   *  one was not kept. */
  readonly state: 'hit' | 'follow' | 'lead' | 'alone'
  /** The texts of the answers, in the order asked; undefined for those that are not there. Empty for `follow`. */
  readonly answers: readonly (string | undefined)[]
}

/** The end of a lead. */
export interface EndedLead {
  readonly key: Key
  /** The answer is not kept, so for this time identical calls do not wait for each other. 0 if the next one may lead. */
  readonly unkeptSeconds: number
}

/** A lead as the store has it: when it began and when it ends without renewal, and the call that has it; none if the
 *  answer was not kept. */
export interface LeadMark {
  readonly from: number
  readonly ends: number
  readonly callId: string
}

export const leadText = ({ from, ends, callId }: LeadMark) => `${from}|${ends}|${callId}`

export function readLead(text: string | undefined): LeadMark | undefined {
  const [, from, ends, callId = ''] = /^(\d+)\|(\d+)\|(.*)$/.exec(text ?? '') ?? []
  return from === undefined ? undefined : { from: Number(from), ends: Number(ends), callId }
}

/** When a stored answer was asked for, in milliseconds since 1970; undefined if the text is none. */
export function askedAt(text: string | undefined): number | undefined {
  const mark = text?.indexOf('|') ?? -1
  const digits = mark > 0 ? (text as string).slice(0, mark) : ''
  return /^\d+$/.test(digits) ? Number(digits) : undefined
}

/** The latest of the clearings, by their marks; 0 if there was none. */
export function clearedAt(marks: readonly (string | null | undefined)[]): number {
  return marks.reduce((latest, mark) => Math.max(latest, Number(mark ?? 0) || 0), 0)
}
