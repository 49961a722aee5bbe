const TROUBLE = {
  unreachable: 'The shared store could not be reached',
  timeout: 'The shared store did not answer in time',
  nonsense: 'The shared store sent an answer that does not fit the command',
  refused: 'The shared store refused the command',
  failed: 'The shared store failed at the command, and its log says why',
} as const
export type StoreTrouble = keyof typeof TROUBLE

/** The store could not be reached, did not answer in time, answered nonsense, or refused or failed at a command. It never contains a
 *  command or a value; of a refusal only the store's error code (`NOPERM`, `OOM`), of a connection only what ended it
 *  (`WRONGPASS`, `ECONNREFUSED`). */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
  readonly trouble: StoreTrouble
  readonly word: string | undefined

  constructor(trouble: StoreTrouble, word?: string) {
    super(`${TROUBLE[trouble]}${word === undefined ? '' : ` (${word})`}.`)
    this.trouble = trouble
    this.word = word
  }
}
