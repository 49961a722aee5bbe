import { describe, expect, it } from 'vitest'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'
import { serverError } from '../support/upstream/index.ts'

const gateway = withConsole()

const logs = async (query: string) => (await gateway.ask('GET', `/ui/api/logs?${query}`)).body.data

describe('requests', () => {
  it('tells the story of a call that failed over', async () => {
    // A model of its own: what other tests have done to those of the demo may keep them from being asked.
    const costs = { input_cost_per_token: 0.000003, output_cost_per_token: 0.000015 }
    for (const id of ['story-1', 'story-2']) {
      const params = {
        model: `openai-compatible/${id}`,
        api_base: `${gateway.demo.upstream.url}/v1`,
        api_key: 'sk-story',
      }
      const model = { deployment_id: id, model_name: 'story', gateway_params: params, model_info: costs }
      expect((await gateway.ask('POST', '/ui/api/models', model)).status).toBe(201)
    }
    gateway.demo.upstream.script('story-1', [serverError()])
    const { key, key_id } = (await gateway.ask('POST', '/ui/api/keys', { key_name: 'of the story' })).body
    // One of them comes to the deployment that fails.
    for (let turn = 0; turn < 12; turn++) {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'story', messages: [{ role: 'user', content: 'Who answers?' }] }),
      })
      expect(answer.status).toBe(200)
      if (answer.headers.get('x-gateway-attempts') === '2') break
    }
    const failedOver = () => logs(`failed_over=true&ending=answered&key_id=${key_id}`)
    await expect.poll(async () => (await failedOver()).length).toBeGreaterThan(0)
    const [call] = await failedOver()
    const page = await gateway.open(`requests?open=${call.call_id}`)
    const panel = page.getByRole('complementary')
    await panel.getByText(/^Answered by .* after .* failed after/).waitFor()
    const { attempts } = (await gateway.ask('GET', `/ui/api/logs/${call.call_id}`)).body
    expect(attempts.length).toBeGreaterThan(1)
    const steps = await panel.getByRole('list').first().getByRole('listitem').allTextContents()
    for (const { deployment } of attempts) expect(steps.filter((text) => text.startsWith(deployment))).not.toEqual([])
    expect(steps[0]).toContain('What the client saw')
    // What it cost, part by part, is what it cost.
    const { price } = (await gateway.ask('GET', `/ui/api/logs/${call.call_id}`)).body
    expect(price.exact).toBe(true)
    const amounts = panel.getByRole('region', { name: 'The parts of the cost' }).locator('td:last-child')
    const sum = (await amounts.allTextContents()).reduce((all, text) => all + Number(text.slice(1)), 0)
    expect(sum).toBeCloseTo(call.cost, 9)
    const replay = new URL((await panel.getByRole('link', { name: 'Replay' }).getAttribute('href')) ?? '', gateway.url)
    expect(Object.fromEntries(replay.searchParams)).toMatchObject({ model: 'story', stream: '0' })
    expect(page.traffic.length).toBeLessThanOrEqual(7)
    await expectAccessible(page)
    await page.keyboard.press('o')
    await page.getByRole('button', { name: 'Print' }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/console/requests/${call.call_id}`)
    await expectAccessible(page)
    for (const id of ['story-1', 'story-2']) await gateway.ask('DELETE', `/ui/api/models/${id}`)
  })

  it('narrows the list by a click on a value, leaves it out with Alt, and keeps the view under a name', async () => {
    const page = await gateway.open('requests?cols=at,cost,model')
    await page.locator('tbody tr[data-id]').first().waitFor()
    expect(await page.locator('thead th').allTextContents()).toEqual(['Time', 'Cost', 'Model'])
    const models = page.locator('tbody .narrow-to')
    const opus = models.filter({ hasText: /^claude-opus$/ })
    await opus.first().click()
    await page.waitForURL(/model=claude-opus/)
    await expect.poll(() => models.filter({ hasText: 'echo' }).count()).toBe(0)
    await opus.first().click({ modifiers: ['Alt'] })
    await page.waitForURL(/not_model=claude-opus/)
    await models.filter({ hasText: 'echo' }).first().waitFor()
    expect(await opus.count()).toBe(0)
    expect(
      page.traffic.filter(({ path }) => path.includes('not_model=')).map(({ path }) => path.split('?')[0]),
    ).toEqual(expect.arrayContaining(['/ui/api/logs', '/ui/api/spend/report']))
    const file = await page.getByRole('link', { name: 'JSONL' }).getAttribute('href')
    expect(new URL(file ?? '', gateway.url).searchParams.get('not_model')).toBe('claude-opus')

    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Keep this view…' }).click()
    await page.getByLabel('Name').fill('All but opus')
    await page.keyboard.press('Enter')
    await page.goto(`${gateway.url}/console/requests`)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitemradio', { name: 'All but opus' }).click()
    await page.waitForURL(/not_model=claude-opus/)
    expect(new URL(page.url()).searchParams.get('cols')).toBe('at,cost,model')
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('button', { name: 'Cost: further right' }).click()
    await expect.poll(() => page.locator('thead th').allTextContents()).toEqual(['Time', 'Model', 'Cost'])
    await expectAccessible(page)
  })

  it('asks the list, the chart and the file for the same', async () => {
    const page = await gateway.open('requests?key_id=no-such-key&range=7d')
    await page.getByText('No call matches').waitFor()
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
    await page.locator('tbody tr[data-id]').first().waitFor()
    const before = await page.locator('tbody tr').first().getAttribute('data-id')
    await gateway.ask('POST', '/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: 'new' }] })
    const button = page.getByRole('button', { name: /new calls?$/ })
    await button.waitFor()
    expect(await page.locator('tbody tr').first().getAttribute('data-id')).toBe(before)
    await button.click()
    await expect.poll(() => page.locator('tbody tr').first().getAttribute('data-id')).not.toBe(before)
  })

  it('shows what was refused, by the minute, and only the filters that hold for it', async () => {
    const page = await gateway.open('requests?tab=refusals&model=echo')
    await page.locator('tbody tr[data-id]').first().waitFor()
    const { data } = (await gateway.ask('GET', '/ui/api/refusals')).body
    expect(await page.locator('tbody tr').count()).toBe(data.length)
    await page.getByRole('button', { name: 'Filter' }).click()
    const offered = page.getByRole('menuitem')
    expect(await offered.allTextContents()).toEqual(['Key', 'Team', 'Organization', 'User', 'Endpoint'])
    expect(await page.getByRole('button', { name: 'echo' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await expectAccessible(page)
    // A minute is a minute, of which there are no sums.
    const { minute } = data.at(-1)
    await page.locator('tbody .row-link').last().click()
    await page.settled()
    const asked = page.traffic.map(({ path }) => new URL(path, gateway.url))
    const { searchParams } = asked.findLast(({ pathname }) => pathname === '/ui/api/logs') as URL
    expect(Date.parse(searchParams.get('from') ?? '')).toBe(Date.parse(minute))
    expect(Date.parse(searchParams.get('to') ?? '')).toBe(Date.parse(minute) + 60_000)
    expect(asked.filter(({ pathname }) => pathname.startsWith('/ui/api/spend'))).toEqual([])
  })

  it('is usable on a phone, and shows developers their own calls alone', async () => {
    const phone = await gateway.open('requests', { width: 390 })
    await expectAccessible(phone)
    const own = await gateway.open('requests', { as: 'team_developer' })
    await own.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
    const lists = own.traffic.filter(({ path }) => path.startsWith('/ui/api/logs'))
    expect(lists.every(({ path }) => path.includes('owner=me'))).toBe(true)
    expect(lists).not.toEqual([])
    // What somebody else has chosen in this browser narrows nothing.
    await own.evaluate(`localStorage.setItem('scope', '{"team_id":"search"}')`)
    await own.reload()
    await own.settled()
    expect(own.traffic.filter(({ path }) => path.includes('team_id=search'))).toEqual([])
  })
})

it('an address that cannot be read leads to no page, and an id may have any characters', async () => {
  const page = await gateway.open('requests/50%25')
  await page.getByText('There is no such call').waitFor()
  await page.goto(`${gateway.url}/console/requests/50%`)
  await page.getByRole('heading', { name: 'Nothing is here' }).waitFor()
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
