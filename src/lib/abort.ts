/** Cancels work. Every AbortSignal is an Abort. */
export interface Abort {
  readonly aborted: boolean
  /** The reason of the abort; undefined before it. */
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export interface Aborter<Reason> extends Abort {
  readonly reason: Reason | undefined
  /** Calls the listeners in the order of their registration. Only the first abort counts. */
  abort(reason?: Reason): void
}

interface State extends Aborter<unknown> {
  aborted: boolean
  reason: unknown
  listeners: (() => void)[] | undefined
}

/** Creates an Abort. It costs a fifth of an AbortController with a listener; every call creates several. */
export function newAbort<Reason>(): Aborter<Reason> {
  // The functions are shared by all aborts, so that one costs a single object.
  const made: State = {
    aborted: false,
    reason: undefined,
    listeners: undefined,
    abort,
    addEventListener,
    removeEventListener,
  }
  return made as Aborter<Reason>
}

function abort(this: State, reason?: unknown): void {
  if (this.aborted) return
  this.aborted = true
  this.reason = reason
  const { listeners } = this
  for (let listener = listeners?.shift(); listener; listener = listeners?.shift()) listener()
}

function addEventListener(this: State, _type: 'abort', listener: () => void): void {
  if (this.aborted) return
  if (this.listeners) this.listeners.push(listener)
  else this.listeners = [listener]
}

function removeEventListener(this: State, _type: 'abort', listener: () => void): void {
  const at = this.listeners?.indexOf(listener) ?? -1
  if (at !== -1) this.listeners?.splice(at, 1)
}

/** The AbortSignal of an Abort, for `fetch` and other platform functions. */
export function asAbortSignal(abort: Abort): AbortSignal {
  if (abort instanceof AbortSignal) return abort
  const controller = new AbortController()
  const forward = () => controller.abort(abort.reason)
  if (abort.aborted) forward()
  else abort.addEventListener('abort', forward, { once: true })
  return controller.signal
}

/** The result of some work, or the reason of an abort that comes before it. The work goes on. */
export function unlessAborted<Result>(work: Promise<Result>, signal: Abort): Promise<Result> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(signal.reason)
    if (signal.aborted) ended()
    else signal.addEventListener('abort', ended, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', ended))
  })
}
