import { expect, it } from 'vitest'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'
import { answer } from '../support/upstream/index.ts'

const gateway = withConsole()
const policyOf = async (name: string) => (await gateway.ask('GET', `/ui/api/route-groups/${name}/policy`)).body
/** Other tests leave the deployment with answers of other kinds of calls, or cooling. */
async function healthy(deployment: string): Promise<void> {
  gateway.demo.upstream.script(deployment, [answer()])
  await gateway.ask('POST', `/ui/api/models/${deployment}/release`)
}
const make = (name: string) =>
  gateway.ask('POST', '/ui/api/route-groups', { name, members: [{ model_name: 'claude-opus' }] })

it('a policy is drafted, simulated, published by the keyboard, and rolled back', async () => {
  await healthy('gpt-5-mini-east')
  await gateway.ask('POST', '/ui/api/route-groups', { name: 'drafted', members: [{ model_name: 'gpt-5-mini' }] })
  await gateway.ask('PUT', '/ui/api/route-groups/drafted/policy/draft', { num_retries: 2 })
  await gateway.ask('POST', '/ui/api/route-groups/drafted/policy/publish')
  const page = await gateway.open('groups?open=drafted')
  const simulation = page.getByRole('region', { name: 'Simulation' })
  await simulation
    .getByText(/at random, whatever the weights/)
    .first()
    .waitFor()
  await page.getByRole('button', { name: /^priority-based-routing/ }).click()
  await simulation
    .getByText(/priority 0/)
    .first()
    .waitFor()
  await page.getByLabel('Timeout of an attempt').fill('20')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByText('The draft is saved. It is not in force yet.').waitFor()
  expect(await policyOf('drafted')).toMatchObject({
    published: { version: 1, policy: { num_retries: 2 } },
    draft: { policy: { routing_strategy: 'priority-based-routing', timeout: 20, num_retries: 2 } },
  })
  const other = await gateway.open('groups')
  const row = other.getByRole('row').filter({ has: other.getByRole('link', { name: 'drafted', exact: true }) })
  await row.getByText('inherited · version 1 draft').waitFor()
  await page.bringToFront()
  await page.keyboard.press('Control+Enter')
  const dialog = page.getByRole('dialog')
  expect(await dialog.getByRole('row').filter({ hasText: 'Timeout of an attempt' }).textContent()).toBe(
    'Timeout of an attemptinherited20 s',
  )
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Publish' }).click()
  await page.getByText('version 2 in force').waitFor()
  expect(await policyOf('drafted')).toMatchObject({
    published: { version: 2, policy: { routing_strategy: 'priority-based-routing', timeout: 20 } },
    draft: null,
  })
  await page.getByRole('tab', { name: 'History' }).click()
  await page.getByRole('button', { name: 'Roll back to version 1' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click()
  await page.getByText('of version 1').waitFor()
  expect((await policyOf('drafted')).published).toMatchObject({
    version: 3,
    policy: { num_retries: 2 },
    restored_from: 1,
  })
})

it('two who draft at once are told of each other, and one may keep theirs', async () => {
  await make('contested')
  await gateway.ask('PUT', '/ui/api/route-groups/contested/policy/draft', { timeout: 5 })
  const page = await gateway.open('groups?open=contested')
  await page.getByLabel('Retries', { exact: true }).fill('3')
  await gateway.ask('PUT', '/ui/api/route-groups/contested/policy/draft', { timeout: 7 })
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await expect.poll(async () => (await policyOf('contested')).draft.policy).toEqual({ timeout: 5, num_retries: 3 })
})

it('what is typed stays when somebody else saves or publishes meanwhile, and overwrites it only on purpose', async () => {
  await make('edited-twice')
  const weigh = (weight: number) =>
    gateway.ask('PATCH', '/ui/api/route-groups/edited-twice', { members: [{ model_name: 'claude-opus', weight }] })
  const page = await gateway.open('groups?open=edited-twice&tab=members')
  await page.clock.install()
  const lookBack = async () => {
    await page.clock.fastForward(6000)
    await page.evaluate("dispatchEvent(new Event('visibilitychange'))")
    await page.settled()
  }
  const weight = page.getByLabel('weight of claude-opus')
  await weigh(2)
  await lookBack()
  expect(await weight.inputValue()).toBe('2')
  await weight.fill('7')
  await weigh(3)
  await page.getByRole('button', { name: 'Save members' }).click()
  await page.getByText('Somebody else has changed the group meanwhile.').waitFor()
  expect(await weight.inputValue()).toBe('7')
  await page.getByRole('button', { name: 'Load theirs' }).click()
  expect(await weight.inputValue()).toBe('3')
  await weight.fill('8')
  await weigh(4)
  await lookBack()
  expect(await weight.inputValue()).toBe('8')
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await page.getByRole('button', { name: 'Save members' }).click()
  await page.getByText('Saved. It applies everywhere').waitFor()
  await page.getByRole('tab', { name: 'Policy' }).click()
  await page.getByLabel('Timeout of an attempt').fill('20')
  await gateway.ask('PUT', '/ui/api/route-groups/edited-twice/policy/draft', { num_retries: 2 })
  await gateway.ask('POST', '/ui/api/route-groups/edited-twice/policy/publish')
  await lookBack()
  await page.getByText('version 1 in force').waitFor()
  expect(await page.getByLabel('Timeout of an attempt').inputValue()).toBe('20')
})

it('a draft that the gateway does not drop stays, and so does what was typed', async () => {
  await make('kept-draft')
  await gateway.ask('PUT', '/ui/api/route-groups/kept-draft/policy/draft', { timeout: 5 })
  const page = await gateway.open('groups?open=kept-draft', { forgives: [/answered 503/] })
  await page.getByLabel('Retries', { exact: true }).fill('3')
  const error = { message: 'The database cannot be reached.', type: 'api_error', param: null, code: 'test' }
  await page.route('**/policy/draft', (route) => route.fulfill({ status: 503, json: { error } }))
  await page.getByRole('button', { name: 'Drop the draft' }).click()
  await page.getByRole('alert').getByText(error.message).waitFor()
  expect(await page.getByLabel('Timeout of an attempt').inputValue()).toBe('5')
  expect(await page.getByLabel('Retries', { exact: true }).inputValue()).toBe('3')
  await page.unroute('**/policy/draft')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByText('The draft is saved. It is not in force yet.').waitFor()
  await page.getByRole('button', { name: 'Drop the draft' }).click()
  await page.getByText('The draft equals the policy in force.').waitFor()
  expect((await policyOf('kept-draft')).draft).toBeNull()
})

it('a route group is made of a model, and its members get weights of their own', async () => {
  const page = await gateway.open('groups')
  await page.keyboard.press('c')
  await page.getByLabel('Name').fill('made-of-opus')
  await page.getByLabel('First member').fill('claude-opus-1')
  await page.getByRole('option', { name: 'claude-opus-1 deployment' }).click()
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByLabel('weight of claude-opus-1').fill('3')
  await page.getByRole('combobox', { name: 'Add a deployment or a model' }).fill('claude-opus-2')
  await page.getByRole('option', { name: 'claude-opus-2 deployment' }).click()
  const second = page.getByRole('row').filter({ hasText: 'claude-opus-2' })
  expect(await second.textContent()).not.toContain('%')
  await page.getByLabel('weight of claude-opus-2').fill('1')
  expect(await second.textContent()).toContain('25 %')
  await page.getByRole('button', { name: 'Save members' }).click()
  await expect
    .poll(async () => (await gateway.ask('GET', '/ui/api/route-groups/made-of-opus')).body.members)
    .toEqual([
      { deployment_id: 'claude-opus-1', weight: 3, enabled: true },
      { deployment_id: 'claude-opus-2', weight: 1, enabled: true },
    ])
  await expectAccessible(page)
})

it('the models of all deployments are listed, a page after the other', async () => {
  const page = await gateway.open('health')
  await page.route('**/ui/api/models?*', async (route) => {
    const next = route.request().url().includes('cursor=next') ? null : 'next'
    const answer = await route.fetch({ url: route.request().url().replace('cursor=next', 'cursor=') })
    const [one] = (await answer.json()).data
    const data = [{ ...one, deployment_id: `d-${next}`, model_name: `of-the-${next ? 'first' : 'last'}-page` }]
    await route.fulfill({ response: answer, json: { data, next_cursor: next } })
  })
  await page.go('groups')
  await page.getByRole('link', { name: 'of-the-first-page' }).waitFor()
  await page.getByRole('button', { name: 'Load 100 more' }).click()
  await page.getByRole('link', { name: 'of-the-last-page' }).waitFor()
  expect(await page.getByRole('link', { name: 'of-the-first-page' }).count()).toBe(1)
})

it('a group is told by its own name, and its policy is read, however many others there are; Back leads to its row', async () => {
  await make('of-many')
  const page = await gateway.open('health', { height: 300 })
  await page.route('**/ui/api/route-group-policies?*', (route) => {
    const isLast = route.request().url().includes('cursor=next')
    const inForce = { routing_strategy: 'least-busy', version: 4, published_at: null, has_draft: false }
    const data = [{ ...inForce, name: isLast ? 'of-many' : 'another' }]
    return route.fulfill({ json: { data, next_cursor: isLast ? null : 'next' } })
  })
  await page.go('groups')
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'of-many', exact: true }) })
  await row.getByText('least-busy · version 4').waitFor()
  const down = () => page.evaluate('document.activeElement.className + document.getElementById("main").scrollTop')
  await row.getByRole('link').focus()
  await page.evaluate('document.getElementById("main").scrollTo(0, 40)')
  const before = await down()
  expect(before).toBe('row-link40')
  await page.keyboard.press('Enter')
  await page.settled()
  // The first page of those whose names contain it may be without it.
  await page.route('**/ui/api/route-groups?*', (route) => route.fulfill({ json: { data: [], next_cursor: 'of' } }))
  await page.getByRole('tab', { name: 'Members' }).click()
  await page.getByLabel('weight of claude-opus').waitFor()
  await page.unroute('**/ui/api/route-groups?*')
  await page.goBack()
  await page.goBack()
  await expect.poll(down).toBe(before)
})

it('the pages of route groups read at most six things, and are accessible, also on a phone', async () => {
  const list = await gateway.open('groups', { as: 'platform_admin' })
  expect(list.traffic.length).toBeLessThanOrEqual(6)
  await expectAccessible(list)
  const detail = await gateway.open('groups?open=claude-opus', { width: 390 })
  expect(detail.traffic.length).toBeLessThanOrEqual(6)
  await expectAccessible(detail)
  await expectAccessible(await gateway.open('groups?open=claude-opus&tab=chains', { width: 390 }))
})

it('calls since a publication are counted by deployment, members say how they are, and s simulates another kind', async () => {
  await healthy('gpt-5-mini-east')
  await gateway.ask('POST', '/ui/api/route-groups', { name: 'watched', members: [{ model_name: 'gpt-5-mini' }] })
  await gateway.ask('PUT', '/ui/api/route-groups/watched/policy/draft', { num_retries: 1 })
  await gateway.ask('POST', '/ui/api/route-groups/watched/policy/publish')
  const page = await gateway.open('groups?open=watched')
  await page.getByText('No call has ended since.').waitFor()
  const call = async () => {
    const { status } = await gateway.ask('POST', '/v1/chat/completions', {
      model: 'watched',
      messages: [{ role: 'user', content: 'Hello' }],
    })
    return status
  }
  await expect.poll(call, { timeout: 20_000 }).toBe(200)
  const traffic = page.getByRole('region', { name: 'Calls by deployment' })
  await traffic.getByRole('row').filter({ hasText: 'gpt-5-mini-east' }).waitFor({ timeout: 20_000 })
  await page.getByLabel('Kind of the simulated calls').selectOption('embedding')
  const simulated = page.waitForResponse((answer) => answer.url().endsWith('/simulate'))
  await page.getByRole('heading', { level: 1 }).focus()
  await page.keyboard.press('s')
  expect((await simulated).request().postDataJSON()).toMatchObject({ mode: 'embedding' })
  await page.getByRole('tab', { name: 'Members' }).click()
  await page.getByText(/1 of 1 healthy/).waitFor()
})
