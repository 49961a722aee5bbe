import { describe } from 'vitest'
import { budgetsContract } from './shared-store/budgets.ts'
import { cachingContract } from './shared-store/caching.ts'
import { deploymentsContract } from './shared-store/deployments.ts'
import { keepingContract } from './shared-store/keeping.ts'
import { limitsContract } from './shared-store/limits.ts'
import { modelContract } from './shared-store/model.ts'
import { settlingContract } from './shared-store/settling.ts'
import { createWorld, type StoreUnderTest } from './shared-store/world.ts'

/** What every adapter of `SharedStore` must do, told one promise a test, and then compared with the model at random. */
export function sharedStoreContract(name: string, subject: StoreUnderTest): void {
  describe(name, () => {
    const world = createWorld(subject)
    limitsContract(world)
    budgetsContract(world)
    deploymentsContract(world)
    settlingContract(world)
    keepingContract(world)
    cachingContract(world)
    modelContract(world)
  })
}
