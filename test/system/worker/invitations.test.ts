import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { MASTER_KEY } from '../../support/gateway.ts'
import { browser } from '../../support/people.ts'
import { json } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const API = `/mail-${randomUUID()}`
const PASSWORD = 'correct horse battery staple'
const models = 'model_list: [{ model_name: echo, gateway_params: { model: echo/echo } }]'
const yaml = `
general_settings:
  { email_provider: resend, email_base_url: 'https://gateway.example', email_from: gateway@example.com,
    email_api_key: re_canary_77d1, email_api_base: '${upstream.url}${API}' }
${models}`

describe.skipIf(!edgeExists())('on workerd, an invitation', () => {
  let edge: Edge
  let workers: readonly [Workerd, Workerd]

  beforeAll(async () => {
    edge = await startEdge()
    const modules = withConfig(await workerModules(), yaml)
    workers = [await startWorkerd(modules, edge.variables), await startWorkerd(modules, edge.variables)]
    await upstream.script(API, [json(200, { id: 'one' })])
  })
  afterAll(async () => {
    await Promise.all((workers ?? []).map((worker) => worker.stop()))
    await edge?.close()
  })

  async function admin(method: string, path: string, body?: unknown) {
    const response = await fetch(`${workers[0].url}/ui/api${path}`, {
      method,
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
    return { status: response.status, body: (await response.json()) as any }
  }

  it('goes out by HTTP beside the answer, is inspected in another isolate, and has one winner', async () => {
    expect((await admin('POST', '/organizations', { organization_id: 'acme' })).status).toBe(201)
    const invited = await admin('POST', '/invitations', { email: 'edge@bücher.example', organization_id: 'acme' })
    expect([invited.status, invited.body.invitation_url]).toEqual([201, undefined])
    const [call] = await upstream.until(API, (calls) => calls.length > 0, 10_000)
    const sent = JSON.parse(new TextDecoder().decode(call?.body))
    expect([sent.to, call?.headers['idempotency-key']]).toEqual([
      ['edge@xn--bcher-kva.example'],
      expect.stringMatching(/^email_/),
    ])
    const token = /#([\w-]{48})/.exec(sent.text)?.[1]
    const seen = await browser(workers[1].url).ask('GET', `/auth/invitations/${token}`)
    expect(seen.body).toMatchObject({ valid: true, password_required: true, organization: { id: 'acme' } })

    const pages = Array.from({ length: 4 }, (_, at) => browser(workers[at % 2 === 0 ? 0 : 1].url))
    const answers = await Promise.all(
      pages.map((page) => page.ask('POST', '/auth/invitations/accept', { token, password: PASSWORD })),
    )
    const statuses = answers.map(({ status }) => status).sort()
    // A password keeps an isolate busy for as long as a database may take to answer.
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => ![200, 404, 503].includes(status))).toEqual([])
    const winner = pages[answers.findIndex(({ status }) => status === 200)]
    expect((await winner?.ask('GET', '/auth/me'))?.body).toMatchObject({
      email: 'edge@bücher.example',
      organizations: [{ id: 'acme', role: 'org_member' }],
    })
    const deadline = Date.now() + 15_000
    for (;;) {
      const { data } = (await admin('GET', '/email/outbox')).body
      if (data[0]?.state === 'sent') break
      expect(Date.now(), JSON.stringify(data)).toBeLessThan(deadline)
      await wait(50)
    }
  })

  it('by SMTP stops the start, which names the field', async () => {
    const smtp = `
general_settings:
  { email_provider: smtp, email_base_url: 'https://gateway.example', email_from: gateway@example.com,
    email_smtp_host: smtp.example.com }
${models}`
    const worker = await startWorkerd(withConfig(await workerModules(), smtp), edge.variables)
    try {
      const response = await fetch(`${worker.url}/health/liveliness`)
      await response.arrayBuffer()
      expect(response.status).toBe(500)
      await expect.poll(() => worker.output()).toContain('general_settings.email_provider')
    } finally {
      await worker.stop()
    }
  })
})
