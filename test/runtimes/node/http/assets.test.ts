import { expect, it } from 'vitest'
import { withGateway } from '../../../support/with-gateway.ts'

const gateway = withGateway(() => 'model_list: []\n')

it('answers the files that Workers answers without the worker', async () => {
  const robots = await gateway.fetch('/robots.txt', { headers: { authorization: '' } })
  expect([robots.status, await robots.text()]).toEqual([200, 'User-agent: *\nDisallow: /\n'])
  const icon = await gateway.fetch('/favicon.svg')
  expect(icon.headers.get('content-type')).toBe('image/svg+xml')
  const page = await (await gateway.fetch('/docs')).text()
  const files = [...page.matchAll(/(?:src|href)="(\/\w+\.(?:css|js|svg))"/g)].map(([, path]) => String(path)).sort()
  expect(files).toEqual(['/docs.css', '/docs.js', '/favicon.svg'])
  const types = await Promise.all(files.map(async (file) => (await gateway.fetch(file)).headers.get('content-type')))
  expect(types).toEqual(['text/css; charset=utf-8', 'text/javascript; charset=utf-8', 'image/svg+xml'])
  expect((await gateway.fetch('/favicon.svg', { method: 'HEAD' })).status).toBe(200)
  expect((await gateway.fetch('/favicon.svg?v=2')).headers.get('content-type')).toBe('image/svg+xml')
})

it.each(['/..%2fpackage.json', '/../package.json', '/robots.txt/', '/%72obots.txt'])(
  'answers nothing else: %s',
  async (path) => {
    expect((await gateway.fetch(path)).status).toBe(404)
  },
)
