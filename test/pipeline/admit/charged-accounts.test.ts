import { expect, it } from 'vitest'
import { chargedAccounts } from '../../../src/pipeline/admit/budget-holds.ts'
import type { Caller } from '../../../src/pipeline/caller.ts'
import type { Deployment } from '../../../src/routing/deployment.ts'
import { registryFrom } from '../../../src/routing/registry.ts'

const deployments = ['cheap', 'dear'].map((name) => ({ id: name, modelName: name, info: {} }) as unknown as Deployment)
const members = deployments.map(({ id }) => ({ deployment_id: id, enabled: true }))
const registry = registryFrom(deployments, { good: 'dear', smart: 'both' }, [{ name: 'both', enabled: true, members }])

it.each([
  ['dear', ['dear'], [undefined, 'dear', 'good']],
  ['cheap', ['cheap'], [undefined]],
  ['both', ['cheap'], [undefined, 'both', 'smart']],
  ['both', ['cheap', 'dear'], [undefined, 'dear', 'good', 'both', 'smart']],
  ['gone', ['cheap'], [undefined, 'gone']],
  ['gone', [], [undefined]],
])("a model's budget holds for calls of '%s' at %o by whichever of its names it was given", (group, at, charged) => {
  const accounts = [undefined, 'dear', 'good', 'gone', 'both', 'smart'].map((model) => ({ model }))
  const asked = deployments.filter(({ id }) => at.includes(id))
  const found = chargedAccounts(registry, { accounts } as unknown as Caller, group, asked)
  expect(found.map(({ model }) => model)).toEqual(charged)
})
