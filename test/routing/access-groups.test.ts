import { expect, it } from 'vitest'
import { providers } from '../../src/providers/index.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { deploymentOf, registryFrom } from '../../src/routing/registry.ts'
import { routeGroup } from '../../src/routing/route-group.ts'

function entry(model_name: string, access_groups: string[]) {
  return { model_name, gateway_params: { model: `echo/${model_name}` }, model_info: { access_groups } }
}

const { model_list } = loadConfig(
  JSON.stringify({
    model_list: [
      entry('big', ['paid']),
      entry('big', ['eu', 'new']),
      entry('fast', ['new', 'paid']),
      entry('small', []),
    ],
  }),
  {},
)
const deployments = model_list.map((one) => deploymentOf(one, providers))
const group = (name: string, ...members: object[]) => routeGroup().parse({ name, members })
const registry = registryFrom(deployments, { nickname: 'big' }, [
  group('both', { model_name: 'big' }, { model_name: 'fast' }),
  group('half', { deployment_id: 'big-2' }),
  group('mixed', { model_name: 'big' }, { model_name: 'small' }),
  group('small', { model_name: 'big' }, { model_name: 'small', enabled: false }),
])

it.each([
  ['big', ['eu', 'new', 'paid'], 'a model has the labels of any of its deployments'],
  ['nickname', ['eu', 'new', 'paid'], 'an alias those of what it means'],
  ['both', ['new', 'paid'], 'a route group those that all its models have'],
  ['half', ['eu', 'new', 'paid'], 'the models, whichever of their deployments are members'],
  ['mixed', [], 'one model without a label keeps it from the group'],
  [
    'small',
    ['eu', 'new', 'paid'],
    'members that are not enabled do not count, nor does the model that the group hides',
  ],
])('%s: %j, for %s', (name, labels) => {
  expect(registry.resolve(name)?.accessGroups).toEqual(labels)
})
