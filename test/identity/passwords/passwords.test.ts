import { describe, expect, it } from 'vitest'
import { passwords } from '../../../src/identity/passwords/passwords.ts'
import { readStored } from '../../../src/identity/passwords/stored-password.ts'
import { type ScryptInput, scrypt } from '../../../src/lib/crypto.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse battery'
/** Of the password "pleaseletmein" with the salt "SodiumChloride", from RFC 7914, in its first 32 of 64 bytes. */
const FOREIGN = `$scrypt$ln=14,r=8,p=1$${unpadded(btoa('SodiumChloride'))}$${unpadded(
  btoa(
    String.fromCharCode(
      ...Uint8Array.from(
        '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2'.match(/../g) as string[],
        (pair) => Number.parseInt(pair, 16),
      ),
    ),
  ),
)}`

function unpadded(base64: string): string {
  return base64.replaceAll('=', '')
}

/** Keeps what it was asked for. */
function counting() {
  const asked: ScryptInput[] = []
  const derive = (input: ScryptInput) => {
    asked.push(input)
    return scrypt(input)
  }
  return { asked, own: passwords({ atOnce: 2, derive }) }
}

describe('a password', () => {
  const { own } = counting()

  it('is kept with the parameters and the salt of its own hash', async () => {
    const [one, other] = [await own.hash(PASSWORD, EMAIL), await own.hash(PASSWORD, EMAIL)]
    expect(one).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(one).not.toBe(other)
    expect([await own.verify(PASSWORD, one), await own.verify(PASSWORD, other)]).toEqual([true, true])
    expect(await own.verify(`${PASSWORD} `, one)).toBe(false)
  })

  it('is the same however a keyboard composes its letters', async () => {
    const stored = await own.hash('Grünes Pferd im Café', EMAIL)
    expect(await own.verify('Gru\u0308nes Pferd im Cafe\u0301', stored)).toBe(true)
  })

  it('is compared by the parameters that are stored with it', async () => {
    expect(await own.verify('pleaseletmein', FOREIGN)).toBe(true)
    expect(await own.verify('pleaseletmeout', FOREIGN)).toBe(false)
  })

  it('that cannot be kept is refused before it is hashed', async () => {
    const { asked, own: counted } = counting()
    await expect(counted.hash('short', EMAIL)).rejects.toMatchObject({ failure: 'invalid_request' })
    expect(asked).toEqual([])
  })
})

describe('a stored text that is none', () => {
  const salt = 'c29kaXVtY2hsb3JpZGU'
  const key = 'A'.repeat(43)
  it.each([
    null,
    undefined,
    '',
    'x',
    '$2b$12$abcdefghijklmnopqrstuv',
    '$scrypt$ln=14,r=8,p=5$$',
    `$scrypt$ln=14,r=8,p=5$${salt}$${key.slice(0, 20)}`,
    `$scrypt$ln=14,r=8,p=5$${salt}$${'A'.repeat(41)}`,
    `$scrypt$ln=0,r=8,p=5$${salt}$${key}`,
    `$scrypt$ln=14,r=0,p=5$${salt}$${key}`,
    `$scrypt$ln=40,r=8,p=5$${salt}$${key}`,
    `$scrypt$ln=20,r=99,p=99$${salt}$${key}`,
    `$scrypt$ln=14,r=8,p=5$${salt}$${key}\n`,
    `$scrypt$ln=14,r=8,p=5$ü${salt}$${key}`,
    '\0'.repeat(100_000),
  ])('%j is nobody’s password, and takes as much work', async (stored) => {
    expect(stored ? readStored(stored) : undefined).toBeUndefined()
    const { asked, own } = counting()
    expect(await own.verify(PASSWORD, stored)).toBe(false)
    expect(asked).toMatchObject([{ cost: 16_384, blockSize: 8, parallelization: 5, keyBytes: 32 }])
  })
})

describe('hashing', () => {
  it('takes no more at once than it was told, lets so many wait, and refuses the rest', async () => {
    let [running, most, derived] = [0, 0, 0]
    const own = passwords({
      atOnce: 2,
      async derive({ keyBytes }) {
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setTimeout(resolve, 1))
        running -= 1
        derived += 1
        return new Uint8Array(keyBytes)
      },
    })
    own.requireRoom()
    const asked = Promise.allSettled(Array.from({ length: 100 }, () => own.verify(PASSWORD, null)))
    expect(() => own.requireRoom()).toThrow('Too many people')
    const outcomes = await asked
    own.requireRoom()
    const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
    expect([most, derived, refused.length]).toEqual([2, 66, 34])
    for (const { reason } of refused) {
      expect(reason).toMatchObject({
        failure: 'overloaded',
        details: { code: 'too_many_sign_ins', retryAfterSeconds: 5 },
      })
    }
    expect(await own.verify(PASSWORD, null)).toBe(false)
  })

  it('gives a place back when it fails', async () => {
    let fails = true
    const own = passwords({
      atOnce: 1,
      derive: ({ keyBytes }) =>
        fails ? Promise.reject(new Error('no thread')) : Promise.resolve(new Uint8Array(keyBytes)),
    })
    for (let time = 0; time < 3; time++) await expect(own.verify(PASSWORD, null)).rejects.toThrow('no thread')
    fails = false
    expect(await own.verify(PASSWORD, null)).toBe(false)
  })
})
