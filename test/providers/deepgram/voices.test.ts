import { expect, it } from 'vitest'
import { deepgram } from '../../../src/providers/deepgram/index.ts'
import { deepgramSpeech } from '../../../src/providers/deepgram/speech.ts'
import { gatewayParams } from '../../../src/routing/configuration.ts'

const asked = (model: string, voice: string) => () => {
  const connection = deepgram.connect(gatewayParams().parse({ model: `deepgram/${model}`, api_key: 'k' }), {})
  const body = { model: 'public', input: 'Hi', voice }
  return deepgramSpeech.request({ body, bytes: new Uint8Array(), streamed: false }, connection)
}

it('a voice stays within its deployment’s family, which is what is billed', () => {
  expect(asked('aura-2', 'thalia')()).toMatchObject({ path: expect.stringContaining('model=aura-2-thalia-en&') })
  expect(asked('aura-2', 'aura-2-luna-es')()).toMatchObject({ path: expect.stringContaining('model=aura-2-luna-es&') })
  const refused = expect.objectContaining({ failure: 'invalid_request', details: { param: 'voice' } })
  for (const voice of ['2-thalia', 'aura-2-thalia-en', 'aura-2', '2']) {
    expect(asked('aura', voice)).toThrow(refused)
  }
})
