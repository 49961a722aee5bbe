import { MASK } from '../secret.ts'

/** The parts of a path, and the values of a query, which need no name. */
const PARTS = /(?<=^\w+:\/\/[^?]*\/)[^/?]+|(?<=\?(?:.*&)?[^=&]*=)[^&]+|(?<=[?&])[^=&]+(?=&|$)/g
/** What is long and has a digit, or letters of both cases, is hardly a word. */
const OPAQUE = /^(?=.*(?:\d|[a-z].*[A-Z]|[A-Z].*[a-z])).{20,}$/
const NAMED_KEYS = /[?&][^=&]*(?:key|token|secret|password|auth|sig|code)[^=&]*=([^&]+)/gi

/** An address without what may be a credential in it: many services take theirs in the query or as a part of the
 *  path. */
export function shownAddress(address: string): string {
  return address.replace(PARTS, (part, at) => (address.lastIndexOf('?', at) >= 0 || OPAQUE.test(part) ? MASK : part))
}

/** The parts of a path that are masked where it is shown. */
export function maskedParts(path: string): string[] {
  return path.split('/').filter((part) => OPAQUE.test(part))
}

/** The values of a query that are credentials by their names, and not ids of which answers may well tell. */
export function keysIn(address: string): string[] {
  return [...address.matchAll(NAMED_KEYS)].map(([, value = '']) => value)
}
