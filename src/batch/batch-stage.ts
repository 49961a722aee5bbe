/** A kind of work on batches that the worker of batches does in the background: validating, running, finishing. */
export interface BatchStage {
  /** Does a piece of what is due, and resolves with false if nothing was. What another process does meanwhile is not due:
   *  it holds a lease. Ends early, without losing work, when the signal aborts. */
  step(signal: AbortSignal): Promise<boolean>
}
