import { describe, expect, it } from 'vitest'
import { isPrivateHost } from '../../../src/lib/addresses/private-address.ts'

const hostOf = (url: string) => new URL(url).hostname

describe('a host', () => {
  it.each([
    'http://127.0.0.1',
    'http://2130706433',
    'http://0x7f.1',
    'http://0',
    'http://10.1.2.3',
    'http://172.31.255.255',
    'http://192.168.1.1',
    'http://169.254.169.254',
    'http://100.64.0.1',
    'http://224.0.0.1',
    'http://255.255.255.255',
    'http://[::1]',
    'http://[::]',
    'http://[::ffff:10.0.0.1]',
    'http://[::ffff:a9fe:a9fe]',
    'http://[64:ff9b::7f00:1]',
    'http://[fd00::1]',
    'http://[fe80::1]',
    'http://[ff02::1]',
    'http://localhost',
    'http://LOCALHOST.',
    'http://redis',
    'http://metadata.google.internal',
    'http://a.b.svc',
  ])('of a private network is known in any spelling: %s', (url) => {
    expect(isPrivateHost(hostOf(url))).toBe(true)
  })

  it.each([
    'https://1.1.1.1',
    'https://172.32.0.1',
    'https://100.128.0.1',
    'https://[2606:4700::1111]',
    'https://[::ffff:1.1.1.1]',
    'https://mcp.example.com',
    'https://local.example.com',
  ])('of the outside is none of them: %s', (url) => {
    expect(isPrivateHost(hostOf(url))).toBe(false)
  })
})
