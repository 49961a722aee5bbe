import { expect, it } from 'vitest'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'

const gateway = withConsole()

it('the page of health drains a deployment and gives it calls again', async () => {
  const page = await gateway.open('health')
  const health = async () => {
    const { body } = await gateway.ask('GET', '/health/deployments')
    return body.deployments.find(({ deployment_id: id }: { deployment_id: string }) => id === 'llama-70b').state
  }
  const row = page.getByRole('row').filter({ hasText: 'llama-70b' })
  await row.getByRole('button', { name: 'Actions on llama-70b' }).click()
  await page.getByRole('menuitem', { name: 'Drain…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click()
  await row.getByText('drained').waitFor()
  expect(await health()).toBe('drained')
  // The model of what is not well comes first.
  const rows = await page.getByRole('region', { name: 'Deployments' }).getByRole('row').allTextContents()
  const at = (text: string) => rows.findIndex((one) => one.includes(text))
  expect(at('llama-70b')).toBeLessThan(at('echo-1'))
  await row.getByRole('button', { name: 'Actions on llama-70b' }).click()
  await page.getByRole('menuitem', { name: 'Resume' }).click()
  await row.getByText('healthy').waitFor()
  expect(await health()).toBe('healthy')
})

it('the page of health tells what a check found', async () => {
  const page = await gateway.open('health')
  await page.getByRole('button', { name: 'Actions on echo-1' }).click()
  await page.getByRole('menuitem', { name: 'Check now' }).click()
  await page.getByText(/echo-1 answered after/).waitFor()
})

it('a deployment opens beside the others, with the fallbacks of its model, and x checks it', async () => {
  const page = await gateway.open('health')
  await page.getByRole('link', { name: 'echo-1' }).click()
  const panel = page.getByRole('complementary', { name: 'echo-1' })
  await panel.getByRole('heading', { name: 'Fallbacks' }).waitFor()
  expect(await panel.getByRole('link', { name: 'Its calls' }).getAttribute('href')).toBe(
    '/console/requests?deployment=echo-1',
  )
  await page.keyboard.press('x')
  await page.getByText(/echo-1 answered after/).waitFor()
  await expectAccessible(page)
})

it('the page of health reads at most six things, and offers nothing to those who may change nothing', async () => {
  const page = await gateway.open('health', { as: 'team_developer' })
  expect(page.traffic.length).toBeLessThanOrEqual(6)
  expect(await page.getByRole('button', { name: /^Actions on/ }).count()).toBe(0)
})

it('the page of health is accessible, also on a phone', async () => {
  await expectAccessible(await gateway.open('health'))
  await expectAccessible(await gateway.open('health', { width: 390 }))
})
