import type { Caller } from '../../pipeline/caller.ts'
import type { RpcId } from './json-rpc.ts'

/** The tool calls that run in this process, by the client's own ids for them. */
export interface RunningTools {
  open(name: string): RunningTool
  /** Cancels the call of this name; false if there is none. */
  cancel(name: string): boolean
}

export interface RunningTool {
  /** Resolves when the client cancels the call. A promise, and no listener: the request that brings the cancellation may
   *  not touch what belongs to this one on every runtime. */
  readonly cancelled: Promise<void>
  /** Forgets the call. */
  close(): void
}

export function runningTools(): RunningTools {
  const running = new Map<string, () => void>()
  return {
    open(name) {
      const { promise, resolve } = Promise.withResolvers<void>()
      running.set(name, resolve)
      return {
        cancelled: promise,
        close() {
          if (running.get(name) === resolve) running.delete(name)
        },
      }
    },
    cancel(name) {
      const cancel = running.get(name)
      cancel?.()
      return cancel !== undefined
    },
  }
}

/** What a call is known by; undefined where a cancellation could mean that of another client. Clients number their
 *  requests from 0: those that share a key are told apart by the session that the answer to `initialize` names. */
export function runningName(
  { kind, keyId }: Pick<Caller, 'kind' | 'keyId'>,
  session: string | undefined,
  id: RpcId,
): string | undefined {
  return session === undefined ? undefined : JSON.stringify([keyId ?? kind, session, id])
}
