import { describe, expect, it } from 'vitest'
import { attachment } from '../../../../src/api/v1/files/attachment.ts'

describe('the name under which a file is saved', () => {
  it.each([
    ['in.jsonl', `attachment; filename="in.jsonl"; filename*=UTF-8''in.jsonl`],
    ['a"; filename="b', `attachment; filename="a_; filename=_b"; filename*=UTF-8''a%22%3B%20filename%3D%22b`],
    ['../../etc/passwd', `attachment; filename=".._.._etc_passwd"; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd`],
    ['a\r\nSet-Cookie: x', `attachment; filename="a__Set-Cookie: x"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20x`],
    [
      "größe (1)'s*\ud800",
      `attachment; filename="gr__e (1)'s*_"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%281%29%27s%2A%EF%BF%BD`,
    ],
  ])('of %j breaks no header', (name, expected) => {
    expect(attachment(name)).toBe(expected)
    new Headers({ 'content-disposition': attachment(name) })
  })
})
