import { describe, expect, it } from 'vitest'
import { RedisRefusal } from '../../../../src/stores/kv/redis-store.ts'
import { replyReader } from '../../../../src/stores/kv/tcp/reply-reader.node.ts'
import { type Random, seededRandom } from '../../../support/random.ts'

/** As a server writes it. */
function written(reply: unknown): string {
  if (reply === null) return '$-1\r\n'
  if (typeof reply === 'number') return `:${reply}\r\n`
  if (typeof reply === 'string') return `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`
  if (reply instanceof RedisRefusal) return `-${reply.word} with more\r\n`
  const items = reply as unknown[]
  return `*${items.length}\r\n${items.map(written).join('')}`
}

const TEXTS = ['', '0', '7', 'é', '🦊', 'OK', 'two\r\nlines', '$3\r\n', '12.5', 'ü'.repeat(300)]

function someReply(random: Random, depth = 0): unknown {
  const dice = random.integer(1, depth < 3 ? 5 : 4)
  if (dice === 1) return random.integer(-3, 3) * 10 ** random.integer(0, 13)
  if (dice === 2) return null
  if (dice === 3) return new RedisRefusal('NOSCRIPT')
  if (dice === 4) return random.pick(TEXTS)
  return Array.from({ length: random.integer(0, 5) }, () => someReply(random, depth + 1))
}

function readFrom(bytes: Buffer, cut: (left: number) => number): unknown[] {
  const replies: unknown[] = []
  const read = replyReader((reply) => replies.push(reply))
  const buffer = Buffer.alloc(bytes.length)
  for (let at = 0; at < bytes.length; ) {
    const length = Math.min(bytes.length - at, cut(bytes.length - at))
    // The same memory for each piece, as a socket reads.
    bytes.copy(buffer, 0, at, at + length)
    read(buffer.subarray(0, length))
    at += length
  }
  return replies
}

describe('replies of Redis', () => {
  it('are read in order, however their bytes are cut', () => {
    const random = seededRandom(5)
    for (let turn = 0; turn < 200; turn++) {
      const replies = Array.from({ length: random.integer(1, 6) }, () => someReply(random))
      const bytes = Buffer.from(replies.map(written).join(''))
      expect(readFrom(bytes, (left) => left)).toEqual(replies)
      expect(readFrom(bytes, () => 1)).toEqual(replies)
      expect(readFrom(bytes, () => random.integer(1, 40))).toEqual(replies)
    }
  })

  it('are read where a text comes in many pieces', () => {
    const text = 'long ✓ '.repeat(500_000)
    expect(readFrom(Buffer.from(written([1, text, 'end'])), () => 65_536)).toEqual([[1, text, 'end']])
  })

  it('may be one line, or a list that is none', () => {
    expect(readFrom(Buffer.from('+OK\r\n*-1\r\n+\r\n'), (left) => left)).toEqual(['OK', null, ''])
  })

  it('name the refusal inside a script, where the server has put it into words of its own', () => {
    const of = (place: string) => new RedisRefusal(`ERR Error running script (call to f_1028a5): ${place} ENOUGH`).word
    expect(of('@user_script:4: @user_script: 4: -READONLY')).toBe('READONLY')
    expect(of('@user_script:2: -OOM')).toBe('OOM')
    expect(of('@user_script:4: SECRET')).toBe('ERR')
    expect(new RedisRefusal('READONLY no. script: 6b8184, on @user_script:1.').word).toBe('READONLY')
  })

  it.each(['HTTP/1.1 400 Bad Request\r\n\r\n', ':12x\r\n', '$x\r\n', '*1\r\n?\r\n'])('are not %j', (text) => {
    expect(() => readFrom(Buffer.from(text), (left) => left)).toThrow(Error)
  })
})
