import { expect, it } from 'vitest'
import { type ObjectStore, objectStore } from '../../src/stores/kv/durable-object/object-store.ts'
import { durableObjectStore } from '../../src/stores/kv/durable-object.ts'
import { objectStorage } from '../support/object-storage.node.ts'
import { seededRandom } from '../support/random.ts'
import { sharedStoreContract } from './shared-store.ts'

const never = () => {}

/** The life of an object that is ended and made again before every other question, of which its storage is all that stays. */
function endedAgainAndAgain() {
  const sql = objectStorage()
  const random = seededRandom(3)
  let object = objectStore(sql, never)
  let ends = 0
  return {
    async ask(...input: Parameters<ObjectStore['ask']>) {
      if (random.integer(1, 2) === 1) {
        object.write()
        object = objectStore(sql, never)
        ends += 1
      }
      return structuredClone(await object.ask(...input))
    },
    ends: () => ends,
  }
}

const byPrefix = new Map<string, ReturnType<typeof endedAgainAndAgain>>()
sharedStoreContract('in an object that is ended again and again', {
  open({ prefix, ...clock }) {
    const object = byPrefix.get(prefix) ?? endedAgainAndAgain()
    byPrefix.set(prefix, object)
    return durableObjectStore(() => ({ ask: object.ask }), clock)
  },
  lives: 40,
  steps: 200,
})

it('has ended many times in those lives', () => {
  const ends = [...byPrefix.values()].map((object) => object.ends())
  expect(ends.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(3000)
})
