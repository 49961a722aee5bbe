import { latin1Text } from '../../lib/bytes/latin1.ts'

/** No words of a model match: inside of a JSON string the quotes are escaped. */
const NO_REASON = /"(?:finish|stop)_?[rR]eason"\s*:\s*(?:null|"")/

/** Whether a provider's whole answer says that it has no reason to end: the answer may be a part of one. */
export const isUnfinished = (bytes: Uint8Array): boolean => NO_REASON.test(latin1Text(bytes))
