import { expect, it } from 'vitest'
import { providerSource } from '../../../src/identity/single-sign-on/identity-provider.ts'
import { KINDS } from '../../../src/identity/single-sign-on/kinds.ts'
import type { Transport } from '../../../src/transport/transport.ts'
import { testClock } from '../../support/clock.ts'

const issuer = 'https://id.example'
const DOCUMENT = { issuer, authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t` }

it('a provider is asked for its addresses, and for its keys, although the clock was set back since', async () => {
  const clock = testClock()
  let documents = 0
  const transport = {
    async send() {
      documents += 1
      const bytes = async () => new TextEncoder().encode(JSON.stringify(DOCUMENT))
      return { status: 200, headers: { 'content-type': 'application/json' }, body: { bytes } }
    },
  } as unknown as Transport
  const settings = { kind: KINDS.oidc, issuer, authorizeUrl: undefined, tokenUrl: undefined, userinfoUrl: undefined }
  const find = providerSource(settings, transport, clock.now)
  const first = await find()
  clock.advance(599_999)
  expect(await find()).toBe(first)
  expect([first.mayReadKeysAgain(), first.mayReadKeysAgain()]).toEqual([true, false])

  clock.advance(-3_600_000)
  expect([first.mayReadKeysAgain(), first.mayReadKeysAgain()]).toEqual([true, false])
  expect(await find()).not.toBe(first)
  await find()
  expect(documents).toBe(2)
})
