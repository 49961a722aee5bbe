import { afterAll, beforeAll, describe } from 'vitest'
import { type ResponsesAccounts, startResponsesAccounts } from '../../support/responses-account.node.ts'
import { workerModules } from '../worker/support/built-once.ts'
import { type Edge, edgeExists, startEdge } from '../worker/support/edge.ts'
import { withConfig } from '../worker/support/worker-modules.ts'
import { startWorkerd, type Workerd } from '../worker/support/workerd.ts'
import { configFor, tenancyScenario } from './scenario.ts'

describe.skipIf(!edgeExists())('what providers keep, on workerd', () => {
  let accounts: ResponsesAccounts
  let edge: Edge
  const workers: Workerd[] = []

  beforeAll(async () => {
    accounts = await startResponsesAccounts()
    edge = await startEdge()
    const modules = withConfig(await workerModules(), configFor(accounts.url))
    for (let at = 0; at < 2; at++) workers.push(await startWorkerd(modules, edge.variables))
    for (const { url } of workers) await (await fetch(`${url}/health`)).arrayBuffer()
  })
  afterAll(async () => {
    for (const worker of workers) await worker.stop()
    await edge.close()
    await accounts.close()
  })

  tenancyScenario('in two isolates', () => ({ urls: workers.map(({ url }) => url), accounts }))
})
