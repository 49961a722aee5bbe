import { expect, it } from 'vitest'
import { withConsole } from '../support/console/with-console.ts'

const gateway = withConsole()

it('a dialog that was changed asks before it is left, by Escape, by its cross and by Cancel; what was typed stays', async () => {
  const page = await gateway.open('teams')
  const dialog = page.getByRole('dialog', { name: 'New team' })
  const question = page.getByRole('dialog', { name: 'Leave without saving?' })
  await page.getByRole('button', { name: 'New team' }).click()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'New team' }).click()
  await page.keyboard.type('Never made')
  // Several in a row: browsers close a dialog at the second one by themselves.
  for (const _ of [1, 2]) {
    await page.keyboard.press('Escape')
    await question.waitFor()
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
  }
  const name = dialog.getByLabel('Name', { exact: true })
  expect(await name.inputValue()).toBe('Never made')
  await dialog.getByRole('button', { name: 'Close' }).click()
  await question.getByRole('button', { name: 'Stay' }).click()
  await question.waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await question.getByRole('button', { name: 'Leave' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect((await gateway.ask('GET', '/ui/api/teams?search=Never+made')).body.data).toEqual([])

  // What was typed and taken back is no change.
  await page.getByRole('button', { name: 'New team' }).click()
  await page.keyboard.type('x')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

it('a form of a page that was changed asks before it is left for another address, or with the page', async () => {
  const group = { name: 'left-open', members: [{ model_name: 'claude-opus' }] }
  expect((await gateway.ask('POST', '/ui/api/route-groups', group)).status).toBe(201)
  const page = await gateway.open('groups')
  await page.getByRole('link', { name: 'left-open' }).click()
  const field = page.getByLabel('Timeout of an attempt')
  await field.fill('17')
  const here = page.url()
  const question = page.getByRole('dialog', { name: 'Leave without saving?' })
  const stays = async () => {
    await question.getByRole('button', { name: 'Stay' }).click()
    await question.waitFor({ state: 'detached' })
    expect(page.url()).toBe(here)
    expect(await field.inputValue()).toBe('17')
  }
  await page.getByRole('link', { name: 'Health' }).click()
  await stays()
  await page.getByRole('tab', { name: 'Members' }).click()
  await stays()
  await page.getByRole('heading').first().focus()
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await stays()
  await page.goBack()
  await stays()
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.type())
    void dialog.dismiss()
  })
  await page.evaluate('setTimeout(() => location.reload(), 0)')
  await expect.poll(() => asked).toEqual(['beforeunload'])
  expect(await field.inputValue()).toBe('17')

  await page.goBack()
  await question.getByRole('button', { name: 'Leave' }).click()
  await expect.poll(() => new URL(page.url()).searchParams.get('open')).not.toBe('left-open')

  await page.goto(here)
  await field.fill('18')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByRole('link', { name: 'Health' }).click()
  await page.getByRole('heading', { name: 'Health' }).waitFor()
  expect(asked).toHaveLength(1)

  // The weights of its members are no fields of a form, and are as much what somebody typed.
  await page.goto(`${gateway.url}/console/groups?open=left-open&tab=members`)
  await page.getByLabel('Clients can call it').uncheck()
  await page.getByRole('link', { name: 'Health' }).click()
  await question.getByRole('button', { name: 'Stay' }).click()
  await page.getByRole('button', { name: 'Save members' }).click()
  await page.getByText('Saved. It applies everywhere within five seconds.').waitFor()
  await page.getByRole('link', { name: 'Health' }).click()
  await page.getByRole('heading', { name: 'Health' }).waitFor()
  await gateway.ask('DELETE', '/ui/api/route-groups/left-open')
})
