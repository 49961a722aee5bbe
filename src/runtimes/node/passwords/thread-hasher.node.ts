import { Worker } from 'node:worker_threads'
import type { PasswordHasher } from '../../../identity/passwords/password-hasher.ts'
import type { ScryptInput } from '../../../lib/crypto.ts'
import type { Derived } from './hashing-thread.node.ts'

/** In the build the thread is a file of its own beside the rest. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? './hashing-thread.node.ts' : './hashing-thread.mjs',
  import.meta.url,
)

/** A thread that has had nothing to do for so long ends. */
const IDLE_MS = 60_000

interface Thread {
  derive(input: ScryptInput): Promise<Uint8Array>
  end(): Promise<void>
}

/** Derives keys on threads of lower priority, which begin with the first password and end when there has been none for a
 *  minute. A thread that dies fails the derivation that it was at; the next one begins another. */
export function threadHasher(atOnce: number): PasswordHasher & { close(): Promise<void> } {
  const free: Thread[] = []
  const alive = new Set<Thread>()

  function startThread(): Thread {
    const worker = new Worker(THREAD, { execArgv: [] })
    let waiting: { resolve(key: Uint8Array): void; reject(error: Error): void } | undefined
    let idle: NodeJS.Timeout | undefined
    // One that waits for work holds no process.
    worker.unref()
    worker.on('message', (derived: Derived) => {
      worker.unref()
      idle = setTimeout(() => {
        leave()
        void worker.terminate()
      }, IDLE_MS).unref()
      const { resolve, reject } = waiting ?? {}
      waiting = undefined
      free.push(thread)
      if ('key' in derived) resolve?.(derived.key)
      else reject?.(new Error(`scrypt: ${derived.error}`))
    })
    const leave = () => {
      const at = free.indexOf(thread)
      if (at >= 0) free.splice(at, 1)
    }
    const gone = (why: Error) => {
      clearTimeout(idle)
      alive.delete(thread)
      leave()
      waiting?.reject(why)
      waiting = undefined
    }
    worker.on('error', gone)
    worker.on('exit', () => gone(new Error('The thread that hashed the password has ended.')))
    const thread: Thread = {
      derive(input) {
        clearTimeout(idle)
        worker.ref()
        return new Promise((resolve, reject) => {
          waiting = { resolve, reject }
          worker.postMessage(input)
        })
      },
      async end() {
        await worker.terminate()
      },
    }
    alive.add(thread)
    return thread
  }

  return {
    atOnce,
    derive: (input) => (free.pop() ?? startThread()).derive(input),
    async close() {
      await Promise.all([...alive].map((thread) => thread.end()))
    },
  }
}
