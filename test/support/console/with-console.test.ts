import { describe, expect, it } from 'vitest'
import { axeViolations } from './axe.ts'
import { chromiumOfTests } from './chromium.node.ts'
import { watch } from './watch.ts'
import { withConsole } from './with-console.ts'

const gateway = withConsole()

describe('what is looked at in each test of the console', () => {
  it('finds what a page may not do', async () => {
    const context = await (await chromiumOfTests()).newContext()
    const page = await context.newPage()
    const watched = await watch(page, gateway.url, [/forgiven/])
    await page.goto(`${gateway.url}/console`)
    await page.evaluate(`
      console.error('told')
      console.error('forgiven')
      Promise.reject(new Error('to nobody'))
      document.body.setAttribute('style', 'color: red')
      fetch('http://127.0.0.1:1/elsewhere').catch(() => {})
      fetch('/ui/api/teams').then(() => {})`)
    const virtual = (await gateway.ask('POST', '/ui/api/keys', { key_name: 'of the harness', team_id: 'eval' })).body
    await page.evaluate(
      (key) => fetch('/ui/api/teams', { headers: { authorization: `Bearer ${key}` } }).then(() => {}),
      String(virtual.key),
    )
    await expect.poll(() => watched.problems().length).toBeGreaterThan(5)
    const told = watched.problems().join('\n')
    expect(told).toContain('console: told')
    expect(told).toContain('to nobody')
    expect(told).toContain('policy: style-src-attr')
    expect(told).toContain('policy: connect-src')
    expect(told).toContain('answered 403: GET /ui/api/teams')
    expect(told).not.toContain('forgiven')
    expect(watched.traffic).toContainEqual({ method: 'GET', path: '/ui/api/teams', status: 401 })
    await context.close()
  })

  it('finds what a reader of some kind cannot use', async () => {
    const page = await gateway.open('', { as: 'nobody' })
    expect(await axeViolations(page)).toEqual([])
    await page.evaluate(`document.body.append(document.createElement('button'))`)
    expect((await axeViolations(page)).join('\n')).toContain('button-name')
  })
})
