import { newTimedId } from '../../lib/ids.ts'
import { takeSlots } from '../../pipeline/admit/request-slots.ts'
import type { Scope } from '../scope.ts'
import type { RpcRequest } from './json-rpc.ts'

/** One of the parallel requests that a caller may have. */
export interface CallSlot {
  /** Keeps the slot until the work has ended, whether or not its client has left by then. The work never rejects. */
  during<Result>(work: Promise<Result>): Promise<Result>
}

/** Takes one of the caller's slots, or throws the refusal. Only tool calls need one: the gateway answers everything
 *  else from memory. */
export async function slotFor({ services, caller, address, client }: Scope, { method }: RpcRequest): Promise<CallSlot> {
  if (method !== 'tools/call') return NO_SLOT
  const release = await takeSlots(services, { caller: caller(), address, id: newTimedId('place') })
  if (!release) return NO_SLOT
  return {
    during(work) {
      const ended = work.finally(() => release(client.defer))
      client.defer(ended)
      return ended
    },
  }
}

const NO_SLOT: CallSlot = { during: (work) => work }
