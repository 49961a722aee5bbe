import { DurableObject, type DurableObjectState } from 'cloudflare:workers'
import { describeError, jsonLog } from '../../lib/log.ts'
import { type ObjectStore, objectStore, type Verb } from '../../stores/kv/durable-object/object-store.ts'

const SWEEP_MS = 3_600_000
/** Between the steps of a sweep calls are answered. */
const STEP_MS = 100

// biome-ignore lint/suspicious/noConsole: the runtime's log is its console.
const log = jsonLog('error', (line) => console.log(line))

/** The shared store of a gateway without Redis: one object, whose isolates all ask it. */
export class SharedStoreObject extends DurableObject {
  readonly #storage: DurableObjectState['storage']
  readonly #store: ObjectStore

  constructor(state: DurableObjectState, bindings: unknown) {
    super(state, bindings)
    this.#storage = state.storage
    this.#store = objectStore(state.storage.sql, setTimeout)
    state.blockConcurrencyWhile(async () => {
      if ((await state.storage.getAlarm()) === null) await state.storage.setAlarm(Date.now() + SWEEP_MS)
    })
  }

  ask(verb: Verb, input: readonly unknown[], at?: number): unknown {
    try {
      return this.#store.ask(verb, input, at)
    } catch (error) {
      log.error('store.failed', { verb, error: describeError(error) })
      throw error
    }
  }

  async alarm(): Promise<void> {
    const mayBeMore = this.#store.sweep()
    await this.#storage.setAlarm(Date.now() + (mayBeMore ? STEP_MS : SWEEP_MS))
  }
}
