import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { runSmoke } from '../../../src/runtimes/local/smoke/run.node.ts'
import { configOf, MASTER_KEY } from '../../support/gateway.ts'
import { answer, slowBetween } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

/** Has the worker's clock strike when it is told to, as the platform does once a minute; a Date is the platform's too. */
const DRIVER = `
import worker from './worker.js'
export default {
  async fetch(request, bindings, execution) {
    if (new URL(request.url).pathname !== '/strike') return worker.fetch(request, bindings, execution)
    await worker.scheduled({}, bindings, execution)
    return new Response()
  },
}
`

describe.skipIf(!edgeExists())('a smoke test of workerd', () => {
  const upstream = upstreamClient(inject('upstreamUrl'))
  let edge: Edge
  let worker: Workerd
  beforeAll(async () => {
    edge = await startEdge()
    const { script, ...modules } = withConfig(
      await workerModules(),
      configOf(`${upstream.url}/of-smoke-at-workerd`, { 'smoke-at-workerd': ['smoke-at-workerd'] }),
    )
    const driven = { ...modules, script: { name: 'driver.js', text: DRIVER }, beside: [script] }
    worker = await startWorkerd(driven, edge.variables)
    const counting = (words: number, ms: number) => answer({ text: 'one '.repeat(words) }, slowBetween({ ms }))
    // A whole call, a streamed one, one that is left, and short ones.
    await upstream.script('smoke-at-workerd', [answer(), counting(40, 20), counting(300, 60), answer()])
    expect((await fetch(`${worker.url}/strike`)).status).toBe(200)
  })
  afterAll(async () => {
    await worker?.stop()
    await edge?.close()
  })

  it('passes', async () => {
    const { rows } = await runSmoke({ url: worker.url, key: MASTER_KEY, patience: 5 })
    const others = rows.filter(({ result }) => result !== 'passed')
    // The platform's front door sends the Date, and answers the files of the console.
    expect(others.map(({ name, result }) => `${name}: ${result}`)).toEqual(['clock: not checked'])
    const left = (await upstream.calls('smoke-at-workerd')).filter(({ outcome }) => outcome === 'client_closed')
    expect(left).toHaveLength(1)
  })
})
