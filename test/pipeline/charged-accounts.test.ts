import { expect, it } from 'vitest'
import type { Caller } from '../../src/pipeline/caller.ts'
import { chargedAccounts } from '../../src/pipeline/holds.ts'
import type { Deployment } from '../../src/routing/deployment.ts'
import { registryFrom } from '../../src/routing/registry.ts'

const deployments = ['cheap', 'dear'].map((name) => ({ id: name, modelName: name, info: {} }) as unknown as Deployment)
const registry = registryFrom(deployments, { good: 'dear' })

it.each([
  ['dear', [undefined, 'dear', 'good']],
  ['cheap', [undefined]],
  ['gone', [undefined, 'gone']],
])("a model's budget holds for calls of '%s' by whichever of its names it was given", (group, charged) => {
  const accounts = [undefined, 'dear', 'good', 'gone'].map((model) => ({ model }))
  const found = chargedAccounts(registry, { accounts } as unknown as Caller, group)
  expect(found.map(({ model }) => model)).toEqual(charged)
})
