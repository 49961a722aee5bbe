import { digestOf } from '../../lib/crypto.ts'
import { GatewayError } from '../../lib/errors.ts'
import { mayBeToken, newToken } from '../../lib/token.ts'
import { type Key, signOnKey } from '../../stores/kv/keys.ts'
import type { SharedStore } from '../../stores/kv/shared-store.ts'
import { SignOnProblem } from './problem.ts'

export const STATE_SECONDS = 600

const NEVER_KEPT = signOnKey('')

/** A login that is at the provider. */
export interface LoginState {
  readonly verifier: string
  readonly nonce: string
  /** Where the person goes afterwards. */
  readonly next: string
}

/** Logins on their way, in the shared store, where every process finds them. Each comes back once, to the browser that
 *  it began in. */
export interface LoginStates {
  /** Keeps one, and gives the state that names it. */
  keep(login: LoginState, browser: string): Promise<string>
  take(state: string | undefined, browser: string | undefined): Promise<LoginState>
}

export function loginStates(store: Pick<SharedStore, 'put' | 'take' | 'getAll'>): LoginStates {
  /** Whether the shared store has nothing under a key. null where it is away: of what is not there, only it knows. */
  async function isAbsent(key: Key): Promise<boolean | null> {
    const [value, never] = await store.getAll([key, NEVER_KEPT])
    return never === null ? null : value === undefined
  }

  return {
    async keep(login, browser) {
      const state = newToken()
      const key = signOnKey(digestOf(state))
      await orAway(store.put(key, JSON.stringify({ ...login, browser: digestOf(browser) }), STATE_SECONDS))
      // What this process had to keep by itself, another would not find.
      if ((await orAway(isAbsent(key))) !== false) throw away()
      return state
    },
    async take(state, browser) {
      if (state === undefined || !mayBeToken(state)) throw new SignOnProblem('state_expired', 'no state')
      if (browser === undefined) throw new SignOnProblem('state_expired', 'no cookie')
      const key = signOnKey(digestOf(state))
      const taken = await orAway(store.take(key))
      if (taken === undefined) {
        if ((await orAway(isAbsent(key))) === null) throw away()
        throw new SignOnProblem('state_expired', 'unknown state')
      }
      const { browser: begunIn, ...login } = JSON.parse(taken)
      if (begunIn !== digestOf(browser)) throw new SignOnProblem('state_expired', 'another browser')
      return login
    },
  }
}

async function orAway<Value>(asked: Promise<Value>): Promise<Value> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof GatewayError && error.failure === 'store_unavailable') throw away()
    throw error
  }
}

function away(): SignOnProblem {
  return new SignOnProblem('store_away', 'the shared store is away')
}
