import * as z from 'zod'
import { shownAddress } from '../lib/addresses/shown-address.ts'
import { HEADER_NAME, HEADER_VALUE } from '../lib/bytes/header-text.ts'
import { NANO } from '../lib/money.ts'
import { secret, secretShownAs } from '../lib/secret.ts'
import { isMailbox } from './mailbox.ts'
import { mistakeInOperatorUrl } from './operator-url.ts'
import { unknownKeys } from './sentences.ts'

/** Timers count in 32-bit milliseconds. */
const MOST_SECONDS = 2_147_483

/** A map of known keys only. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? unknownKeys(issue.keys, known) : undefined),
  })
}

/** Runs rules over several keys even if one of the keys is invalid, so that all mistakes are reported at once. */
export const evenIfBroken = { when: ({ value }: z.core.ParsePayload) => isMap(value) }

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text that satisfies a rule. The rule returns the mistake, or undefined. */
export const checked = (mistakeIn: (text: string) => string | undefined) =>
  z
    .string()
    .min(1)
    .superRefine((text, context) => {
      const message = mistakeIn(text)
      if (message !== undefined) context.addIssue({ code: 'custom', message })
    })

export const text = () => z.string().min(1)
export const flag = () => z.boolean()
export const secretText = () => text().transform(secret)

const NOT_ONE_LINE =
  'must be one line of Latin-1 characters, without control characters; a placeholder such as sk-… has to be replaced'

/** A text that is sent in a header and is no secret. */
export const headerText = () => checked((value) => (HEADER_VALUE.test(value) ? undefined : NOT_ONE_LINE))

/** A secret that is sent in a header, or a JSON key file, of which only a part is. Variables that were read from a file
 *  often end in a line break. */
export const headerSecret = () =>
  checked((value) =>
    HEADER_VALUE.test(value) || value.trimStart().startsWith('{') ? undefined : NOT_ONE_LINE,
  ).transform(secret)
export const count = () => z.int().min(0)
export const positiveCount = () => z.int().positive()
export const seconds = () => z.number().min(0).max(MOST_SECONDS)
export const positiveSeconds = () => z.number().positive().max(MOST_SECONDS)
export const positiveMilliseconds = () =>
  z
    .number()
    .positive()
    .max(1000 * MOST_SECONDS)
/** US dollars. */
export const money = () => z.number().min(0).max(1_000_000_000)
/** A budget in US dollars: in nano-dollars, more of them are no exact number. */
export const budget = () =>
  z
    .number()
    .min(0)
    .max(Math.floor(Number.MAX_SAFE_INTEGER / NANO))
/** An e-mail address as somebody wrote it. */
export const mailbox = () =>
  z
    .string()
    .max(512)
    .transform((text) => text.normalize('NFC').trim())
    .refine(isMailbox, 'must be an e-mail address')
export const email = () => mailbox().transform((address) => address.toLowerCase())
export const operatorUrl = () => checked(mistakeInOperatorUrl)

/** An address that is appended to. */
export const baseAddress = () =>
  checked(
    (value) =>
      mistakeInOperatorUrl(value) ??
      (value.includes('?')
        ? 'must not have a ? part, for a path is appended to it; use the field for a key or a version'
        : undefined),
  )

/** An address whose path or query may hold a key, as that of many a webhook does. It prints without it. */
export const keyedUrl = () => operatorUrl().transform(keyed)
export const keyed = (address: string) => secretShownAs(shownAddress(address), address)

/** Headers by which a request is framed on its connection: HTTP clients send no request that brings its own. */
const FRAMING = /^(?:content-length|expect|keep-alive|transfer-encoding|upgrade)$/i

/** Header names to values. The values are secrets, since they often hold credentials. */
export const headers = () =>
  z.record(
    z
      .string()
      .regex(HEADER_NAME, { error: 'is not a header name' })
      .refine((name) => !FRAMING.test(name), {
        error: 'says how a request is sent, which the gateway decides; remove it',
      }),
    z.string().regex(HEADER_VALUE, { error: NOT_ONE_LINE }).transform(secret),
  )
