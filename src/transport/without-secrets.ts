import { GatewayError } from '../lib/errors.ts'
import { MASK, reveal, type Secret } from '../lib/secret.ts'

/** Shorter secrets are not masked: they may be ordinary words. */
const SHORTEST_SECRET = 8
/** Parts of a credential of this length are masked too. */
const PART = 10
/** Longer texts are cut: masking is slow. */
const LONGEST_TEXT = 8192

type Headers = Readonly<Record<string, string | Secret>>

/** Masks the request's credentials, and parts of them, in the texts of a failure: providers quote requests in their
 *  messages, which reach clients and logs. */
export function withoutSecrets(failure: GatewayError, headers: Headers): GatewayError {
  const { message, details } = failure
  const credentials = credentialsOf(headers)
  if (credentials.length === 0) return failure
  const masked = (text: string | undefined) => text && credentials.reduce(mask, shortened(text))
  const [text = '', param, code] = [masked(message), masked(details.param), masked(details.code)]
  const { explanation, ...rest } = details
  const explained = explanation && JSON.stringify(explanation)
  const clean = masked(explained) === explained
  if (text === message && param === details.param && code === details.code && clean) return failure
  return new GatewayError(failure.failure, text, {
    ...rest,
    ...(explanation && clean ? { explanation } : {}),
    ...(param ? { param } : {}),
    ...(code ? { code } : {}),
    cause: failure.cause,
  })
}

/** The same in any text. */
export function credentialsMasked(text: string, headers: Headers): string {
  return credentialsOf(headers).reduce(mask, shortened(text))
}

/** Masks the request's credentials where a text holds them as they are, or as JSON writes them: quick enough for whole
 *  answers. */
export function withCredentialsMasked(text: string, headers: Headers): string {
  let masked = text
  for (const credential of credentialsOf(headers)) {
    masked = masked.replaceAll(ESCAPABLE.test(credential) ? escapedOrNot(credential) : credential, MASK)
  }
  return masked
}

const ESCAPABLE = /["\\/]/

/** Finds a text also where JSON, or JSON within JSON, has put backslashes before some of its characters. */
function escapedOrNot(text: string): RegExp {
  const characters = [...text].map((one) => `${ESCAPABLE.test(one) ? '\\\\{0,7}' : ''}${one.replace(/[^\w ]/, '\\$&')}`)
  return new RegExp(characters.join(''), 'g')
}

function shortened(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT).toWellFormed()}…`
}

function credentialsOf(headers: Headers): string[] {
  return Object.values(headers).flatMap((value) => (typeof value === 'string' ? [] : credentialOf(value)))
}

/** The credential without the name of its scheme. */
function credentialOf(value: Secret): string[] {
  const credential = reveal(value).replace(/^\w+ +/, '')
  return credential.length < SHORTEST_SECRET ? [] : [credential]
}

/** Masks a credential in any spelling: in another letter case, with spaces or punctuation in between, escaped or
 *  cut. */
function mask(text: string, credential: string): string {
  const { letters: own } = lettersOf(credential)
  const { letters, starts, ends } = lettersOf(text)
  const length = Math.min(PART, own.length)
  if (length < SHORTEST_SECRET) return text.replaceAll(credential, MASK)
  const parts = new Set<string>()
  for (let at = 0; at + length <= own.length; at++) parts.add(own.slice(at, at + length))

  let result = ''
  let copied = 0
  for (let at = 0; at + length <= letters.length; at++) {
    if (!parts.has(letters.slice(at, at + length))) continue
    let end = at + length
    while (end < letters.length && parts.has(letters.slice(end - length + 1, end + 1))) end++
    result += `${text.slice(copied, starts[at])}${MASK}`
    copied = ends[end - 1] as number
    at = end - 1
  }
  return copied === 0 ? text : result + text.slice(copied)
}

const TOKENS = /%([0-9a-f]{2})|\\u\{?([0-9a-f]{2,6})\}?|\\x([0-9a-f]{2})|&#x([0-9a-f]{1,6});|&#(\d{1,7});|([\s\S])/giu

/** The letters and digits of a text in lower case with escapes decoded, and the position of each in the text. */
function lettersOf(text: string): { letters: string; starts: number[]; ends: number[] } {
  let letters = ''
  const starts: number[] = []
  const ends: number[] = []
  for (const found of text.matchAll(TOKENS)) {
    const [all, percent, unicode, hex, entityHex, entity, plain] = found
    const code = percent ?? unicode ?? hex ?? entityHex
    const point = code === undefined ? Number(entity) : Number.parseInt(code, 16)
    const letter = plain ?? (point <= 0x10ffff ? String.fromCodePoint(point) : '')
    if (!/^[A-Za-z0-9]$/.test(letter)) continue
    letters += letter.toLowerCase()
    starts.push(found.index)
    ends.push(found.index + all.length)
  }
  return { letters, starts, ends }
}
