import { describe, expect, it } from 'vitest'
import { invitationMail, resetMail, testMail } from '../../src/mail/templates.ts'

const link = 'https://gateway.example/console/invite#tokenTOKENtoken'
const expiresAt = new Date('2026-11-25T14:05:09Z')

describe('an invitation', () => {
  const mail = invitationMail({
    link,
    invitedBy: 'ann@example.com',
    organization: { name: 'Acme', role: 'org_admin' },
    team: { name: 'Red', role: 'team_developer' },
    expiresAt,
  })

  it('says who invited, to what, until when, and what to do if it was not expected', () => {
    expect(mail.subject).toBe('You are invited to “Red”')
    for (const form of [mail.text, mail.html]) {
      expect(form).toContain('ann@example.com invites you to join the organization “Acme” as admin')
      expect(form).toContain('the team “Red” as developer')
      expect(form).toContain('until 25 November 2026, 14:05 UTC')
      expect(form).toContain('If you did not expect this invitation')
      expect(form).toContain(link)
    }
  })

  it('loads nothing from anywhere', () => {
    expect(mail.html).not.toMatch(/<(img|script|link|style|iframe|object|video|audio)\b|\bsrc=|url\(|@import/i)
    expect([...mail.html.matchAll(/https?:\/\/[^"<\s]+/g)].map(([url]) => url)).toEqual([link, link])
  })

  it('takes names for words: neither a header, nor HTML, nor text that runs the other way', () => {
    const name = 'Acme\r\nBcc: all@example.com\u2028\u202e<img src=x onerror="a">\0 & \'co\''
    const evil = invitationMail({ link, invitedBy: name, organization: { name, role: 'org_member' }, expiresAt })
    expect(evil.subject).toMatch(/^You are invited to “Acme Bcc: all@example\.com <img [^\p{Cc}\p{Zl}\u202e]*$/u)
    expect(evil.html).not.toContain('<img')
    expect(evil.html).toContain('&lt;img src=x onerror=&quot;a&quot;&gt;')
    expect(`${evil.text}${evil.html}`).not.toMatch(/[\0\r\u2028\u202e]/)
  })

  it('shortens names that would hide what it says', () => {
    const long = invitationMail({ link, organization: { name: 'x'.repeat(10_000), role: 'org_member' }, expiresAt })
    expect(long.subject.length).toBeLessThan(120)
    expect(long.text.length).toBeLessThan(1000)
  })

  it('to nothing but the gateway names no place', () => {
    const mail = invitationMail({ link, expiresAt })
    expect(mail.text).toContain('The administrator of a model gateway invites you to a model gateway.')
  })
})

describe('the other e-mails', () => {
  it('say what they are for', () => {
    expect(resetMail({ link, expiresAt }).text).toMatch(/new password[\s\S]*25 November 2026[\s\S]*your password stays/)
    expect(testMail()).not.toHaveProperty('link')
  })
})
