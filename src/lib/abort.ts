/** Tells work that nobody waits for it any more. Every AbortSignal is one. */
export interface Abort {
  readonly aborted: boolean
  /** Why; undefined until then. */
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export interface Aborter<Reason> extends Abort {
  readonly reason: Reason | undefined
  /** Tells everybody who listens, in the order in which they came. Only the first time counts. */
  abort(reason?: Reason): void
}

/** An Abort at a fifth of the price of an AbortController that somebody listens to: every call makes several, and
 *  hardly any is ever used. */
export function newAbort<Reason>(): Aborter<Reason> {
  let listeners: (() => void)[] | undefined
  const self = {
    aborted: false,
    reason: undefined as Reason | undefined,
    abort(reason?: Reason): void {
      if (self.aborted) return
      self.aborted = true
      self.reason = reason
      for (let listener = listeners?.shift(); listener; listener = listeners?.shift()) listener()
    },
    addEventListener(_type: 'abort', listener: () => void): void {
      if (self.aborted) return
      if (listeners) listeners.push(listener)
      else listeners = [listener]
    },
    removeEventListener(_type: 'abort', listener: () => void): void {
      const at = listeners?.indexOf(listener) ?? -1
      if (at !== -1) listeners?.splice(at, 1)
    },
  }
  return self
}

/** The same for what takes nothing else: `fetch`, and what the platform makes of signals. */
export function asAbortSignal(abort: Abort): AbortSignal {
  if (abort instanceof AbortSignal) return abort
  const controller = new AbortController()
  const tell = () => controller.abort(abort.reason)
  if (abort.aborted) tell()
  else abort.addEventListener('abort', tell, { once: true })
  return controller.signal
}
