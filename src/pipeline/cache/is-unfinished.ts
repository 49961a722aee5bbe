import { latin1Text } from '../../lib/bytes/latin1.ts'

// No words of a model match: inside of a JSON string the quotes are escaped.
const FINISH = /"finish_?[rR]eason"\s*:/
const NO_FINISH = /"finish_?[rR]eason"\s*:\s*(?:null|"")/
const NO_STOP = /"stop_?[rR]eason"\s*:\s*(?:null|"")/

/** Whether a provider's whole answer says that it has no reason to end: the answer may be a part of one. Beside a
 *  `finish_reason` a `stop_reason` is the text that a client asked to stop at, which most answers do not reach. */
export function isUnfinished(bytes: Uint8Array): boolean {
  const text = latin1Text(bytes)
  return FINISH.test(text) ? NO_FINISH.test(text) : NO_STOP.test(text)
}
