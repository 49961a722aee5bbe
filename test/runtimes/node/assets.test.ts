import { afterAll, beforeAll, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../../support/gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway('model_list: []\n')
})
afterAll(() => gateway.close())

it('answers the files that Workers answers without the worker', async () => {
  const robots = await gateway.fetch('/robots.txt', { headers: { authorization: '' } })
  expect([robots.status, await robots.text()]).toEqual([200, 'User-agent: *\nDisallow: /\n'])
  const icon = await gateway.fetch('/favicon.svg')
  expect(icon.headers.get('content-type')).toBe('image/svg+xml')
  expect((await gateway.fetch('/favicon.svg', { method: 'HEAD' })).status).toBe(200)
  expect((await gateway.fetch('/favicon.svg?v=2')).headers.get('content-type')).toBe('image/svg+xml')
})

it.each(['/..%2fpackage.json', '/../package.json', '/robots.txt/', '/%72obots.txt'])(
  'answers nothing else: %s',
  async (path) => {
    expect((await gateway.fetch(path)).status).toBe(404)
  },
)
