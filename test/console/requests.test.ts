import { describe, expect, it } from 'vitest'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'
import { serverError } from '../support/upstream/index.ts'

const gateway = withConsole()

const logs = async (query: string) => (await gateway.ask('GET', `/ui/api/logs?${query}`)).body.data

describe('requests', () => {
  it('tells the story of a call that failed over', async () => {
    gateway.demo.upstream.script('claude-opus-1', [serverError(), serverError()])
    gateway.demo.upstream.script('claude-opus-2', [serverError(), serverError()])
    await gateway.ask('POST', '/v1/chat/completions', {
      model: 'claude-opus',
      messages: [{ role: 'user', content: 'Who answers?' }],
    })
    await expect.poll(async () => (await logs('failed_over=true&ending=answered')).length).toBeGreaterThan(0)
    const [call] = await logs('failed_over=true&ending=answered&limit=1')
    const page = await gateway.open(`requests?open=${call.call_id}`)
    const panel = page.getByRole('complementary')
    await panel.getByText(/^Answered by .* after .* failed after/).waitFor()
    const { attempts } = (await gateway.ask('GET', `/ui/api/logs/${call.call_id}`)).body
    expect(attempts.length).toBeGreaterThan(1)
    const steps = panel.getByRole('list').first().getByRole('listitem')
    expect(await steps.count()).toBe(attempts.length)
    expect(await steps.first().textContent()).toContain(attempts[0].deployment)
    expect(page.traffic.length).toBeLessThanOrEqual(7)
    await expectAccessible(page)
  })

  it('asks the list, the chart and the file for the same', async () => {
    const page = await gateway.open('requests?key_id=no-such-key&range=7d')
    await page.getByText('No call is like this').waitFor()
    const asked = page.traffic.filter(({ path }) => path.includes('key_id=no-such-key'))
    const file = await page.getByRole('link', { name: 'CSV' }).getAttribute('href')
    const of = (path: string) => {
      const { searchParams } = new URL(path, gateway.url)
      return ['key_id', 'from', 'to'].map((name) => searchParams.get(name))
    }
    expect(asked.map(({ path }) => path.split('?')[0])).toEqual(
      expect.arrayContaining(['/ui/api/logs', '/ui/api/spend/report']),
    )
    expect(new Set([...asked.map(({ path }) => path), file ?? ''].map((path) => of(path).join()))).toHaveLength(1)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('table').waitFor()
  })

  it('counts calls that come in while one reads, and shows them when asked', async () => {
    const page = await gateway.open('requests')
    await page.getByRole('table').waitFor()
    const before = await page.locator('tbody tr').first().getAttribute('data-id')
    await gateway.ask('POST', '/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: 'new' }] })
    const button = page.getByRole('button', { name: /new calls?$/ })
    await button.waitFor()
    expect(await page.locator('tbody tr').first().getAttribute('data-id')).toBe(before)
    await button.click()
    await expect.poll(() => page.locator('tbody tr').first().getAttribute('data-id')).not.toBe(before)
  })

  it('shows what was refused, by the minute', async () => {
    const page = await gateway.open('requests?tab=refusals')
    await expect.poll(() => page.locator('tbody tr').count()).toBeGreaterThan(0)
    const { data } = (await gateway.ask('GET', '/ui/api/refusals')).body
    expect(await page.locator('tbody tr').count()).toBe(data.length)
    await expectAccessible(page)
  })

  it('is usable on a phone, and shows developers their own calls alone', async () => {
    const phone = await gateway.open('requests', { width: 390 })
    await expectAccessible(phone)
    const own = await gateway.open('requests', { as: 'team_developer' })
    await own.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
    const lists = own.traffic.filter(({ path }) => path.startsWith('/ui/api/logs'))
    expect(lists.every(({ path }) => path.includes('owner=me'))).toBe(true)
    expect(lists).not.toEqual([])
  })
})

it('the range of time goes by its keys', async () => {
  const page = await gateway.open('requests?range=1h')
  const from = () => Date.parse(new URL(page.url()).searchParams.get('from') ?? '')
  await page.keyboard.press('[')
  await expect.poll(from).toBeLessThan(Date.now() - 3_600_000)
  const earlier = from()
  await page.keyboard.press(']')
  await expect.poll(from).toBeGreaterThan(earlier)
  await page.keyboard.press('t')
  await page.getByRole('menuitemradio', { name: 'Last 7 days' }).click()
  await expect.poll(() => new URL(page.url()).searchParams.get('range')).toBe('7d')
})
