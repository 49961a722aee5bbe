import { newTimedId } from '../../lib/ids.ts'
import { takeSlots } from '../../pipeline/admit/request-slots.ts'
import type { Scope } from '../scope.ts'
import type { RpcRequest } from './json-rpc.ts'

/** A place among the parallel requests of a caller. */
export interface Place {
  /** Keeps the place until the work has ended, whether or not its client has left by then. The work never rejects. */
  during<Result>(work: Promise<Result>): Promise<Result>
}

/** Takes one of the caller's places, or throws the refusal. Only tool calls need one: the gateway answers everything
 *  else from memory. */
export async function placeFor({ services, caller, address, client }: Scope, { method }: RpcRequest): Promise<Place> {
  if (method !== 'tools/call') return NO_PLACE
  const release = await takeSlots(services, { caller: caller(), address, id: newTimedId('place') })
  if (!release) return NO_PLACE
  return {
    during(work) {
      const ended = work.finally(() => release(client.defer))
      client.defer(ended)
      return ended
    },
  }
}

const NO_PLACE: Place = { during: (work) => work }
