import { createHmac } from 'node:crypto'
import type { Browser } from './people.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export const stepNow = () => Math.floor(Date.now() / 30_000)

/** The code of an authenticator app (RFC 6238), from the secret that it was given. */
export function totp(secret: string, step = stepNow()): string {
  const bits = [...secret].map((letter) => LETTERS.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', key).update(counter).digest()
  const offset = (digest[19] as number) & 15
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1e6).padStart(6, '0')
}

/** A code that no step near now has. */
export function wrongCode(secret: string): string {
  const near = [-2, -1, 0, 1, 2].map((off) => totp(secret, stepNow() + off))
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !near.includes(code)) as string
}

/** Sets up the second factor of whoever is signed in. */
export async function enroll(page: Browser): Promise<{ secret: string; recoveryCodes: string[] }> {
  const { secret } = (await page.ask('POST', '/auth/mfa/enroll/start')).body
  const confirmed = await page.ask('POST', '/auth/mfa/enroll/confirm', { code: totp(secret) })
  if (confirmed.status !== 200) throw new Error(`not enrolled: ${JSON.stringify(confirmed.body)}`)
  return { secret, recoveryCodes: confirmed.body.recovery_codes }
}
