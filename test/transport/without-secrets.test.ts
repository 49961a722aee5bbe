import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/lib/errors.ts'
import { secret } from '../../src/lib/secret.ts'
import { withCredentialsMasked, withoutSecrets } from '../../src/transport/without-secrets.ts'
import { busyMs } from '../support/busy-ms.ts'

const KEY = 'sk-proj-Zq7_x9LmT2vB8nR4cW6yK1dH'
const headers = { authorization: secret(`Bearer ${KEY}`), accept: 'application/json' }

const cleaned = (message: string) =>
  withoutSecrets(new GatewayError('upstream_rejected', message, { param: message, code: message }), headers)

const said = (message: string) => cleaned(message).message

const entities = (text: string) => text.replace(/./g, (letter) => `&#${letter.charCodeAt(0)};`)
const percents = (text: string) => text.replace(/./g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
const unicode = (text: string) => text.replace(/./g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)

describe('the words of a provider', () => {
  it.each([
    ['as it is', KEY],
    ['in capital letters', KEY.toUpperCase()],
    ['in small letters', KEY.toLowerCase()],
    ['spaced', [...KEY].join(' ')],
    ['over lines', KEY.replace(/(.{6})/g, '$1\n')],
    ['in groups', KEY.replace(/(.{4})/g, '$1-')],
    ['in percent-encoding', percents(KEY)],
    ['in escapes of JSON', unicode(KEY)],
    ['in entities', entities(KEY)],
    ['with some letters escaped', KEY.replace('-', '%2D').replace('_', '\\u005f')],
    ['without its end', KEY.slice(0, 20)],
    ['without its beginning', KEY.slice(12)],
    ['only its middle', KEY.slice(9, 24)],
  ])('hold no credential: %s', (_, echoed) => {
    const message = said(`Incorrect API key provided: ${echoed}. See the docs.`)
    expect(message).toMatch(/^Incorrect API key provided: \[secret\][^A-Za-z0-9]*See the docs\.$/)
  })

  it('hold it nowhere: neither in the field nor in the code', () => {
    const failure = cleaned(`key ${KEY}`)
    expect([failure.details.param, failure.details.code]).toEqual(['key [secret]', 'key [secret]'])
  })

  it('lose every echo of it', () => {
    expect(said(`${KEY} and ${KEY.toUpperCase()} and ${KEY.slice(4)}!`)).toBe('[secret] and [secret] and [secret]!')
  })

  it.each(['The project is unknown.', 'sk-proj keys are not taken here', 'x'.repeat(1000), '%zz \\u &#99999999; 🙂'])(
    'stay as they are without it: %s',
    (message) => expect(said(message)).toBe(message),
  )

  it('end somewhere, and are looked through in no time', () => {
    let message = ''
    const busy = busyMs(() => {
      message = said(`${'%41'.repeat(300_000)}${KEY}`)
    })
    expect(busy).toBeLessThan(500)
    expect(message.length).toBeLessThan(9000)
  })

  it('never hold as much as ten letters of it, however they are cut and put together', () => {
    const part = fc
      .tuple(fc.nat(KEY.length - 10), fc.integer({ min: 10, max: KEY.length }))
      .map(([from, length]) => KEY.slice(from, from + length))
    const noise = fc.string({ unit: fc.constantFrom('x', ' ', '.', '%', '\\', '&#', 'é', '🙂', '\n') })
    fc.assert(
      fc.property(fc.array(fc.tuple(noise, part)), (pieces) => {
        const letters = said(pieces.flat().join(''))
          .replaceAll('[secret]', '|')
          .replace(/[^a-z0-9|]/gi, '')
          .toLowerCase()
        const own = KEY.replace(/[^a-z0-9]/gi, '').toLowerCase()
        for (let at = 0; at + 10 <= own.length; at++) expect(letters).not.toContain(own.slice(at, at + 10))
      }),
    )
  })
})

describe('the answer of a tool server', () => {
  const token = 'q"7/T.x\\9+(LmT2v)'
  const php = (value: string) => JSON.stringify(value).replaceAll('/', '\\/')

  it.each([
    ['as it is', token],
    ['in JSON', JSON.stringify({ token })],
    ['in JSON within JSON', JSON.stringify({ text: JSON.stringify({ token }) })],
    ['in JSON that escapes slashes', php(`You sent ${token}`)],
    ['in such JSON within such JSON', php(php(token))],
  ])('holds no credential: %s', (_, said) => {
    const masked = withCredentialsMasked(said, { 'x-api-key': secret(token) })
    expect(masked).toContain('[secret]')
    expect(masked).not.toMatch(/LmT2v/)
    if (said !== token) expect(JSON.parse(masked)).toBeTruthy()
  })

  it('is looked through in no time, whatever it is', () => {
    const slashes = '\\'.repeat(400_000)
    expect(busyMs(() => withCredentialsMasked(slashes, { 'x-api-key': secret(`/${token}`) }))).toBeLessThan(1000)
  })
})
